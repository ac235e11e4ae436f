// SPDX-License-Identifier: Apache-2.0
#ifndef StagePicture_h
#define StagePicture_h

#include "FreeFormStage.h"
#include "Registration.h"

#include <string>

namespace example
{

/** Writes a PNG of a registration with WriteHeadPicture(): the two images on a checkerboard before it, after the last linear stage and
 *  after the free-form deformation; then the deformed grid, and the Jacobian's determinant.
 *  \param registered the moving image on the fixed one's grid, after all stages
 *  \param freeForm null for none: then there are only the first two rows
 *  \throws itk::ExceptionObject if it cannot be written */
void
WriteStagePicture(const Volume *             fixed,
                  const Volume *             moving,
                  const Volume *             registered,
                  const RegistrationResult & linear,
                  const FreeFormResult *     freeForm,
                  const std::string &        fileName);

/** Checks the name before the computation.
 *  \throws std::runtime_error unless it is the name of a PNG that can be written */
void
CheckStagePictureCanBeWritten(const std::string & fileName);

} // namespace example

#endif
