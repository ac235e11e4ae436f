// SPDX-License-Identifier: Apache-2.0
// Addition of the chunks' sums, which are floats, to sums in double precision.
#ifndef gpureg_AddPartials_h
#define gpureg_AddPartials_h

#include <cstddef>

namespace gpureg
{

/** Adds times arrays of count partial sums, stored one after another, to sums: sums[n] += partials[n] for each n below count. The arrays
 *  may be sums and their rounding errors. Returns the pointer behind the arrays. */
inline const float *
AddPartials(const float * partials, int count, std::size_t times, double * sums)
{
  for (std::size_t time = 0; time < times; ++time, partials += count)
  {
    for (int n = 0; n < count; ++n)
    {
      sums[n] += partials[n];
    }
  }
  return partials;
}

} // namespace gpureg

#endif
