// SPDX-License-Identifier: Apache-2.0
#ifndef DeformedGrid_h
#define DeformedGrid_h

#include "HeadPicture.h"

namespace example
{

/** Returns a painter of the fixed image, dimmed, under the lines that a deformation maps to multiples of 10 mm along a plane's axes: a
 *  straight grid in the moving image's space, as seen from the fixed image's. */
Painter
PaintDeformedGrid(const Volume * fixed, const Transform * deformation);

} // namespace example

#endif
