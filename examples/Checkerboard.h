// SPDX-License-Identifier: Apache-2.0
#ifndef Checkerboard_h
#define Checkerboard_h

#include "HeadPicture.h"

namespace example
{

/** Grey squares are the fixed image, warm ones the moving image: where the two are in register, outlines run on from square
 * to square.
 * \param moving as a transform brings it to the fixed image's points */
Painter
PaintCheckerboard(const Volume * fixed, const Volume * moving);

} // namespace example

#endif
