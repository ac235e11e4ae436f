// SPDX-License-Identifier: Apache-2.0
#ifndef BrainPhantom_h
#define BrainPhantom_h

#include "Volume.h"

#include <cstdint>

namespace example
{

/** Returns a misalignment of twelve parameters about a point: a rotation by 10 degrees, a shift by 15 mm, scaling by ±5 % along each
 *  axis, and a shear of 0.03. The seed chooses the axis, the direction and the signs. It maps the fixed to the moving image's points. */
itk::AffineTransform<double, 3>::Pointer
MakeTruth(const Volume::PointType & centre, std::uint32_t seed);

/** Returns the same head as another scanner might see it: T1 intensities go through a curve that rises and falls (fluid becomes bright
 *  and white matter dark, as in T2), the head is moved by the truth, voxels are 1.2 times as large, so that the whole head stays in
 *  view, and Gaussian noise of 3 % of the brightest value is added. */
Volume::Pointer
MakeMovingImage(const Volume * fixed, const itk::AffineTransform<double, 3> * truth, std::uint32_t seed);

} // namespace example

#endif
