// SPDX-License-Identifier: Apache-2.0
#ifndef JacobianMap_h
#define JacobianMap_h

#include "HeadPicture.h"

namespace example
{

/** The determinant of a deformation's Jacobian as a colour: blue where volumes become smaller from the fixed image to the moving
 * one, red where they become larger, as JacobianScale() has them, and green where it folds. The fixed image's brightness shows
 * through. */
Painter
PaintJacobian(const Volume * fixed, const Transform * deformation);

/** Its colours from a half to twice the volume; what is beyond has the last one. */
ColourScale
JacobianScale();

} // namespace example

#endif
