// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Geometry_h
#define gpureg_Geometry_h

#include <array>
#include <cstdint>

namespace gpureg
{

/** Numbers of voxels along x, y, z; a 2D image has one voxel along z. */
using Size = std::array<int, 3>;

/** Maps indices or points of one space to those of another: out = matrix·in + offset, with the matrix stored row by row. In two
 *  dimensions z stays as it is. */
struct IndexMap
{
  std::array<double, 9> matrix{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  std::array<double, 3> offset{ 0, 0, 0 };
};

inline std::int64_t
CountOf(const Size & size)
{
  return static_cast<std::int64_t>(size[0]) * size[1] * size[2];
}

} // namespace gpureg

#endif
