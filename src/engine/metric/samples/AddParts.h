// SPDX-License-Identifier: Apache-2.0
// How what chunks have summed up, in floats, becomes sums of doubles.
#ifndef gpureg_AddParts_h
#define gpureg_AddParts_h

#include <cstddef>

namespace gpureg
{

/** sums[n] += parts[n] for each n below count, so many times, of parts that lie behind each other: such as sums and their rests. Gives
 *  what lies behind them. */
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
