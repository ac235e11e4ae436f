// SPDX-License-Identifier: Apache-2.0
// Sums in double precision of the host's passes, and their conversion to floats.
#ifndef gpureg_HostSums_h
#define gpureg_HostSums_h

#include <algorithm>

namespace gpureg
{

/** Adds a force to sums as AddForce() and AddFixedPointForce() of src/kernels/metric/samples/ForceSums.h do, in double precision. */
inline void
AddForceInDoubles(const double * force, const float * fromCentre, double * sums)
{
  for (int c = 0; c < 3; ++c)
  {
    sums[c] += force[c];
    for (int d = 0; d < 3; ++d)
    {
      sums[3 + 3 * d + c] += force[c] * fromCentre[d];
    }
  }
}

/** Writes sums as floats. If floatsOfSum is 2, writes the rounding errors behind all sums. \return the pointer behind the last float */
inline float *
WriteSums(const double * sums, int count, int floatsOfSum, float * out)
{
  std::copy(sums, sums + count, out);
  for (int s = 0; floatsOfSum > 1 && s < count; ++s)
  {
    out[count + s] = static_cast<float>(sums[s] - out[s]);
  }
  return out + count * floatsOfSum;
}

} // namespace gpureg

#endif
