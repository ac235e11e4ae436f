// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PlaneRange_h
#define gpureg_PlaneRange_h

#include <algorithm>
#include <cstdint>

namespace gpureg
{

/** Planes first … end - 1 along an axis; none if end <= first. */
struct PlaneRange
{
  int first = 0;
  int end = 0;

  int
  GetCount() const
  {
    return std::max(end - first, 0);
  }
};

/** Rows first … first + count - 1 of an output. Row y + z·size[1] is the row at (y, z). */
struct RowRange
{
  std::int64_t first = 0;
  std::int64_t count = 0;
};

} // namespace gpureg

#endif
