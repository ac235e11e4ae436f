// SPDX-License-Identifier: Apache-2.0
// Random numbers and definitions in long double, for tests of the fixed-point formulas. A unit is 2^-32, the last digit of a fixed-point
// number.
#ifndef gpuregtest_FixedPointCase_h
#define gpuregtest_FixedPointCase_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/core/Geometry.h"

#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

/** Names of its own: other tests have random numbers and splines, too. */
namespace gpuregtest::fixedpoint
{

using namespace gpureg::kernels;
using Random = std::mt19937_64;

constexpr i64         One = GPUREG_FIXED_ONE;
constexpr i64         Half = GPUREG_FIXED_HALF;
constexpr long double Units = 4294967296.0L;

const VolumeShape Shapes[] = { MakeVolumeShape(1, 1, 1), MakeVolumeShape(2, 1, 1), MakeVolumeShape(1, 2, 3),
                               MakeVolumeShape(2, 2, 2), MakeVolumeShape(7, 5, 3), MakeVolumeShape(9, 1, 4) };

/** Returns the seeds, and prints them once. */
inline const Seeds &
GetPrintedSeeds()
{
  static const Seeds seeds = GetSeeds(31, 1);
  return seeds;
}

/** Calls work(random) `times` times, or GPUREG_TEST_CASES times as often. */
template <typename TWork>
void
Repeat(std::uint64_t count, const TWork & work)
{
  const Seeds & seeds = GetPrintedSeeds();
  Random        random(seeds.first);
  for (std::uint64_t n = 0; n < count * seeds.count; ++n)
  {
    work(random);
  }
}

inline i64
DrawBetween(Random & random, i64 first, i64 last)
{
  return std::uniform_int_distribution<i64>(first, last)(random);
}

/** Returns a random signed number of up to this number of bits, of which each magnitude is equally likely. */
inline i64
DrawOfBits(Random & random, int bits)
{
  const i64 end = i64{ 1 } << DrawBetween(random, 0, bits);
  return DrawBetween(random, -end, end);
}

inline float
DrawFloat(Random & random, float low, float high)
{
  return std::uniform_real_distribution<float>(low, high)(random);
}

/** Returns an index that an interpolator may get, in [-1/2, size - 1/2), including the edges. */
inline i64
DrawIndex(Random & random, int size)
{
  const i64              last = (size - 1) * One;
  const std::vector<i64> edges{ -Half, -1, 0, 1, Half - 1, last - 1, last, last + 1, last + Half - 1 };
  const i64              n = DrawBetween(random, 0, 2 * static_cast<i64>(edges.size()) - 1);
  return n < static_cast<i64>(edges.size()) ? std::max(edges[n], -Half) : DrawBetween(random, -Half, last + Half - 1);
}

inline std::vector<i64>
DrawVolume(Random & random, const VolumeShape & shape, i64 largest)
{
  std::vector<i64> volume(static_cast<std::size_t>(shape.size[0]) * shape.size[1] * shape.size[2]);
  for (i64 & value : volume)
  {
    const i64 n = DrawBetween(random, 0, 5);
    value = n == 0 ? largest : (n == 1 ? -largest : DrawBetween(random, -largest, largest));
  }
  return volume;
}

/** Returns the centred B-spline of an order, as a sum of truncated powers. */
inline long double
BSpline(int order, long double x)
{
  const long double half = 0.5L * (order + 1);
  if (std::abs(x) > half)
  {
    return 0;
  }
  long double sum = 0;
  long double factor = 1;
  for (int k = 0; k <= order + 1; ++k)
  {
    const long double y = x + half - k;
    sum += y >= 0 ? factor * std::pow(y, order) : 0;
    factor *= -static_cast<long double>(order + 1 - k) / (k + 1);
  }
  return sum / std::tgamma(order + 1.0L);
}

/** Returns the sample that stands for index k of an axis: repeated for orders 0 and 1, mirrored otherwise. */
inline int
Fold(int order, int k, int size)
{
  if (order <= 1 || size == 1)
  {
    return std::clamp(k, 0, size - 1);
  }
  while (k < 0 || k >= size)
  {
    k = k < 0 ? -k : 2 * (size - 1) - k;
  }
  return k;
}

/** Returns the weight of each sample of an axis at an index. */
inline std::vector<long double>
SplineWeightsOfSamples(int order, int size, i64 index)
{
  std::vector<long double> weights(size, 0.0L);
  for (int k = -8; k < size + 8; ++k)
  {
    weights[Fold(order, k, size)] += BSpline(order, index / Units - k);
  }
  return weights;
}

/** Returns the sum over a volume of its values, weighted along each axis. */
inline long double
SumWeighted(const std::vector<i64> & volume, const VolumeShape & shape, const std::vector<long double> (&weights)[3])
{
  long double sum = 0;
  for (std::size_t n = 0; n < volume.size(); ++n)
  {
    const auto x = n % shape.size[0];
    const auto y = n / shape.size[0] % shape.size[1];
    const auto z = n / shape.size[0] / shape.size[1];
    sum += weights[0][x] * weights[1][y] * weights[2][z] * volume[n];
  }
  return sum;
}

/** The most units that all weights of FixedSplineWeights lose together, by degree d: each of d shares loses up to (d - 1)/d by the
 *  division by d, which the weights multiply by d, and each of 2 d products loses up to 1. */
constexpr int MostLost[] = { 0, 0, 6, 18, 38, 68 };

/** The most units that a single weight loses: E(d) = (d + 1) (E(d - 1) + d - 1)/d + 2, rounded up. */
constexpr int MostLostOfOne[] = { 0, 0, 4, 10, 18, 28 };

/** Expects a weight to be the spline's, or smaller by the rounding errors; but the middle one takes all that the others lost. The spline
 *  itself is known here to much less than a hundredth of a unit. */
inline void
ExpectIsSpline(int order, i64 t, const i64 * weights)
{
  i64 sum = 0;
  for (int r = 0; r <= order; ++r)
  {
    const long double exact = Units * BSpline(order, t / Units + 0.5L * (order - 1) - r);
    const auto        excess = static_cast<double>(weights[r] - exact);
    const bool        isMiddle = r == order / 2;
    EXPECT_GE(excess, -0.01 - (isMiddle ? 0 : MostLostOfOne[order])) << "order " << order << " t " << t << " r " << r;
    EXPECT_LE(excess, 0.01 + (isMiddle ? MostLost[order] : 0)) << "order " << order << " t " << t << " r " << r;
    EXPECT_GE(weights[r], 0) << "order " << order << " t " << t << " r " << r;
    sum += weights[r];
  }
  EXPECT_EQ(sum, One) << "order " << order << " t " << t;
}

} // namespace gpuregtest::fixedpoint

#endif
