// SPDX-License-Identifier: Apache-2.0
// How often a velocity is halved before its exponential is squared, and the integers that the squarings' gradients are summed in.
#ifndef gpureg_Squarings_h
#define gpureg_Squarings_h

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gpureg
{

/** Returns how many squarings make the exponential of a velocity whose longest vector has that length: the fewest, up to most, for which
 *  longest/2^squarings is no longer than step, both in voxels. 0 where longest is not finite. */
inline int
CountSquarings(double longest, double step, int most)
{
  const double halvings = std::ceil(std::log2(longest / step));
  return std::isfinite(halvings) ? static_cast<int>(std::clamp(halvings, 0.0, static_cast<double>(most))) : 0;
}

/** Returns what the first of so many squarings multiplies a velocity by, for the exponential of a share of it or, if isInverse, of the
 *  negative share. */
inline float
ComputeSquaringScale(double share, bool isInverse, int squarings)
{
  return static_cast<float>(std::ldexp(isInverse ? -share : share, -squarings));
}

/** Returns 2^bits, the units of what kernels::ScatterToCorners() adds up: as many as leave room for all voxels' sum, up to 2^40. */
inline float
ComputeScatterUnits(std::int64_t voxels)
{
  const int bitsOfCount = static_cast<int>(std::ceil(std::log2(static_cast<double>(voxels))));
  return std::ldexp(1.0F, std::min(40, 62 - bitsOfCount));
}

} // namespace gpureg

#endif
