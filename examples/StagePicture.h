// SPDX-License-Identifier: Apache-2.0
#ifndef StagePicture_h
#define StagePicture_h

#include "FreeFormStage.h"
#include "Registration.h"

#include <string>

namespace example
{

/** Writes a PNG of a registration, as WriteHeadPicture() does: the two images on one checkerboard before it, after the last linear
 * stage and after the free-form deformation; of that the grid, and the Jacobian's determinant.
 * \param registered the moving image on the fixed one's grid, as it is after all stages
 * \param freeForm null for none: then the first two rows are all
 * \throws itk::ExceptionObject if it cannot be written */
void
WriteStagePicture(const Volume *             fixed,
                  const Volume *             moving,
                  const Volume *             registered,
                  const RegistrationResult & linear,
                  const FreeFormResult *     freeForm,
                  const std::string &        fileName);

/** Before the work, so that it is not done for nothing.
 * \throws std::runtime_error if it is not the name of a PNG that can be written */
void
CheckStagePictureCanBeWritten(const std::string & fileName);

} // namespace example

#endif
