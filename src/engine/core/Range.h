// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Range_h
#define gpureg_Range_h

#include <algorithm>
#include <cstdint>

namespace gpureg
{

/** Voxels, planes or blocks behind each other. */
struct Range
{
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t
  GetEnd() const
  {
    return first + count;
  }
};

/** Returns what two ranges have in common; of count 0 if that is nothing. */
inline Range
Intersect(const Range & a, const Range & b)
{
  const std::int64_t first = std::max(a.first, b.first);
  return { first, std::max<std::int64_t>(0, std::min(a.GetEnd(), b.GetEnd()) - first) };
}

} // namespace gpureg

#endif
