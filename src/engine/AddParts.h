// SPDX-License-Identifier: Apache-2.0
// How what chunks have summed up, in floats, becomes sums of doubles.
#ifndef gpureg_AddParts_h
#define gpureg_AddParts_h

namespace gpureg
{

/** sums[n] += parts[n]. Gives what lies behind the parts. */
inline const float *
AddParts(const float * parts, int count, double * sums)
{
  for (int n = 0; n < count; ++n)
  {
    sums[n] += parts[n];
  }
  return parts + count;
}

} // namespace gpureg

#endif
