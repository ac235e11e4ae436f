// SPDX-License-Identifier: Apache-2.0
#ifndef CheckerboardPicture_h
#define CheckerboardPicture_h

#include "Volume.h"

#include <string>

namespace example
{

/** Writes a PNG of six checkerboards: before registration above, after it below; in an axial, a coronal and a sagittal
 * plane through a point. Grey squares are the fixed image, warm ones the moving image: where the two are in register,
 * outlines run on from square to square. Upright, front and left of the head as radiologists have them.
 * \param before, after the moving image as the two transforms bring it to the fixed image's points */
void
WriteCheckerboardPicture(const Volume *            fixed,
                         const Volume *            before,
                         const Volume *            after,
                         const Volume::PointType & point,
                         const std::string &       fileName);

} // namespace example

#endif
