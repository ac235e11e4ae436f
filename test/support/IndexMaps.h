// SPDX-License-Identifier: Apache-2.0
#ifndef IndexMaps_h
#define IndexMaps_h

#include "engine/core/Matrix3.h"

#include "gpureg/core/Geometry.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gpuregtest
{

/** Returns where a map leads x. */
inline gpureg::Vector3
Apply(const gpureg::IndexMap & map, const gpureg::Vector3 & x)
{
  gpureg::Vector3 y = gpureg::Multiply(map.matrix, x);
  for (std::size_t r = 0; r < 3; ++r)
  {
    y[r] += map.offset[r];
  }
  return y;
}

/** Returns a map from a grid's indices to points, rotated about z by an angle in radians. offset: the point of the index 0. */
inline gpureg::IndexMap
MakeRotatedMap(double angle, const gpureg::Vector3 & spacing, const gpureg::Vector3 & offset)
{
  gpureg::IndexMap map;
  map.matrix = { spacing[0] * std::cos(angle),
                 -spacing[1] * std::sin(angle),
                 0,
                 spacing[0] * std::sin(angle),
                 spacing[1] * std::cos(angle),
                 0,
                 0,
                 0,
                 spacing[2] };
  map.offset = offset;
  return map;
}

/** Returns the index of a grid's voxel number n; x varies fastest. */
inline gpureg::Vector3
GetIndex(const gpureg::Size & size, std::int64_t n)
{
  return { static_cast<double>(n % size[0]),
           static_cast<double>(n / size[0] % size[1]),
           static_cast<double>(n / size[0] / size[1]) };
}

/** Returns the index of a grid's middle. */
inline gpureg::Vector3
GetMiddle(const gpureg::Size & size)
{
  return { (size[0] - 1) / 2.0, (size[1] - 1) / 2.0, (size[2] - 1) / 2.0 };
}

} // namespace gpuregtest

#endif
