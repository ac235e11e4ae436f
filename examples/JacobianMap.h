// SPDX-License-Identifier: Apache-2.0
#ifndef JacobianMap_h
#define JacobianMap_h

#include "HeadPicture.h"

namespace example
{

/** Returns a painter of the determinant of a deformation's Jacobian: blue where volumes become smaller from the fixed image to the
 *  moving one, red where they become larger, by JacobianScale(), and green where it folds. The fixed image's brightness shows through. */
Painter
PaintJacobian(const Volume * fixed, const Transform * deformation);

/** Returns the scale of colours from half to twice the volume; values beyond have the last colour. */
ColourScale
JacobianScale();

} // namespace example

#endif
