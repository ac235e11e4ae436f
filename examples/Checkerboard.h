// SPDX-License-Identifier: Apache-2.0
#ifndef Checkerboard_h
#define Checkerboard_h

#include "HeadPicture.h"

namespace example
{

/** Returns a painter of a checkerboard: grey squares are the fixed image, warm ones the moving image. Where the two are aligned,
 *  outlines continue from square to square.
 *  \param moving the moving image, resampled to the fixed image's grid */
Painter
PaintCheckerboard(const Volume * fixed, const Volume * moving);

} // namespace example

#endif
