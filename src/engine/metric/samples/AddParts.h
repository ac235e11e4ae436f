// SPDX-License-Identifier: Apache-2.0
// Addition of the chunks' sums, which are floats, to sums in double precision.
#ifndef gpureg_AddParts_h
#define gpureg_AddParts_h

#include <cstddef>

namespace gpureg
{

/** Adds times arrays of count parts, stored one after another, to sums: sums[n] += parts[n] for each n below count. The arrays may be sums
 *  and their rounding errors. Returns the pointer behind the arrays. */
inline const float *
AddParts(const float * parts, int count, std::size_t times, double * sums)
{
  for (std::size_t time = 0; time < times; ++time, parts += count)
  {
    for (int n = 0; n < count; ++n)
    {
      sums[n] += parts[n];
    }
  }
  return parts;
}

} // namespace gpureg

#endif
