// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Geometry_h
#define gpureg_Geometry_h

#include <array>
#include <cstdint>

namespace gpureg
{

/** Voxels along x, y, z; a 2D image has one along z. */
using Size = std::array<int, 3>;

/** out = matrix·in + offset, rows first, between two spaces of indices or points. Two dimensions leave z alone. */
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
