// SPDX-License-Identifier: Apache-2.0
// The rotations that a global search looks at.
#ifndef gpureg_GlobalRotations_h
#define gpureg_GlobalRotations_h

#include "engine/core/Matrix3.h"

#include <array>
#include <cstddef>
#include <vector>

namespace gpureg
{

/** From and to, radians. */
using AngleRange = std::array<double, 2>;

/** R_z · R_y · R_x of all angles in these ranges, about x, y and z, that are a step apart: the full circle is cut evenly, of another
 *  range as many are taken as have room, about its middle. Of those that are the same rotation, the first alone: of the full circle
 *  about all axes, half of the angles. */
std::vector<Matrix3>
MakeRotations(const std::array<AngleRange, 3> & ranges, double step);

/** Which of some rotations is nearest to each of others; of several that are, to rounding, the first. */
std::vector<std::size_t>
FindNearest(const std::vector<Matrix3> & some, const std::vector<Matrix3> & others);

} // namespace gpureg

#endif
