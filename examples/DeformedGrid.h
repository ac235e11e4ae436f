// SPDX-License-Identifier: Apache-2.0
#ifndef DeformedGrid_h
#define DeformedGrid_h

#include "HeadPicture.h"

namespace example
{

/** The fixed image, dimmed, under the lines that a deformation brings to a plane's axes' multiples of 10 mm: a straight grid in
 * the space that it leads to, as it is seen from the fixed image's. */
Painter
PaintDeformedGrid(const Volume * fixed, const Transform * deformation);

} // namespace example

#endif
