// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Range_h
#define gpureg_Range_h

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

} // namespace gpureg

#endif
