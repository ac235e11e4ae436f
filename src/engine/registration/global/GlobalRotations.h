// SPDX-License-Identifier: Apache-2.0
// The rotations that a global search evaluates.
#ifndef gpureg_GlobalRotations_h
#define gpureg_GlobalRotations_h

#include "engine/core/Matrix3.h"

#include <array>
#include <cstddef>
#include <vector>

namespace gpureg
{

/** The first and the last angle, in radians. */
using AngleRange = std::array<double, 2>;

/** Returns the rotations R_z · R_y · R_x for all angles about x, y and z in the given ranges, a step apart. A full circle is divided
 *  evenly; in another range, as many angles as fit are placed about its middle. If several angles give one rotation, returns it once: full
 *  circles about all axes give half as many rotations as angles. */
std::vector<Matrix3>
MakeRotations(const std::array<AngleRange, 3> & ranges, double step);

/** Returns, for each of others, the index of the nearest rotation in some; the first one if several are nearest within rounding. */
std::vector<std::size_t>
FindNearest(const std::vector<Matrix3> & some, const std::vector<Matrix3> & others);

} // namespace gpureg

#endif
