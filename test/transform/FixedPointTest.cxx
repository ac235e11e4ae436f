// SPDX-License-Identifier: Apache-2.0
// Compares the fixed-point formulas of src/kernels with their definitions in long double, at edges and at random values. A unit is 2^-32,
// the last digit of a fixed-point number. Tolerances are in units, and follow from the roundings.
#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/core/Geometry.h"
#include "kernels/metric/samples/Position.h"
#include "kernels/metric/samples/Interpolation.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/metric/samples/ForceSums.h"
#include "kernels/image/InvalidSample.h"
#include "kernels/metric/samples/Samples.h"
#include "kernels/metric/samples/FixedPointSamples.h"
#include "kernels/metric/samples/FixedPointGrid.h"
#include "kernels/transform/ChainSlopes.h"
#include "kernels/metric/samples/SampleChain.h"
#include "kernels/core/LaneLimits.h"
#include "kernels/metric/samples/SamplePartition.h"
#include "kernels/core/Evaluated.h"
#include "kernels/metric/histogram/Histogram.h"
#include "kernels/metric/histogram/MattesSample.h"
#include "kernels/metric/histogram/MattesFixedPoint.h"
#include "kernels/metric/histogram/EntropyTable.h"
#include "kernels/metric/histogram/BorderWeight.h"
#include "kernels/metric/histogram/CorrelationRatio.h"
#include "kernels/metric/histogram/CorrelationRatioCount.h"

#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;
using Random = std::mt19937_64;

constexpr i64         One = GPUREG_FIXED_ONE;
constexpr i64         Half = GPUREG_FIXED_HALF;
constexpr long double Units = 4294967296.0L;

const VolumeShape Shapes[] = { MakeVolumeShape(1, 1, 1), MakeVolumeShape(2, 1, 1), MakeVolumeShape(1, 2, 3),
                               MakeVolumeShape(2, 2, 2), MakeVolumeShape(7, 5, 3), MakeVolumeShape(9, 1, 4) };

/** Returns the seeds, and prints them once. */
const Seeds &
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

i64
DrawBetween(Random & random, i64 first, i64 last)
{
  return std::uniform_int_distribution<i64>(first, last)(random);
}

/** Returns a random signed number of up to this number of bits, of which each magnitude is equally likely. */
i64
DrawOfBits(Random & random, int bits)
{
  const i64 end = i64{ 1 } << DrawBetween(random, 0, bits);
  return DrawBetween(random, -end, end);
}

float
DrawFloat(Random & random, float low, float high)
{
  return std::uniform_real_distribution<float>(low, high)(random);
}

/** Returns an index that an interpolator may get, in [-1/2, size - 1/2), including the edges. */
i64
DrawIndex(Random & random, int size)
{
  const i64              last = (size - 1) * One;
  const std::vector<i64> edges{ -Half, -1, 0, 1, Half - 1, last - 1, last, last + 1, last + Half - 1 };
  const i64              n = DrawBetween(random, 0, 2 * static_cast<i64>(edges.size()) - 1);
  return n < static_cast<i64>(edges.size()) ? std::max(edges[n], -Half) : DrawBetween(random, -Half, last + Half - 1);
}

std::vector<i64>
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
long double
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
int
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
std::vector<long double>
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
long double
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
void
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
} // namespace

/** r is a·b/2^32 rounded down if a·b - r·2^32 is at least 0 and below 2^32. Arithmetic in 64 bits gives this difference modulo 2^64, and
 *  floating point, which is exact to 2^10 here, excludes another r with the same difference. */
TEST(FixedMapTest, ProductsAreRoundedDown)
{
  const auto check = [](i64 a, i64 b) {
    const i64 product = MultiplyFixed(a, b);
    const u64 left = static_cast<u64>(a) * static_cast<u64>(b) - (static_cast<u64>(product) << 32);
    EXPECT_LT(left, u64{ 1 } << 32) << a << " * " << b;
    EXPECT_EQ(MultiplyFixedToNearest(a, b), product + static_cast<i64>(left >> 31)) << a << " * " << b;
    EXPECT_NEAR(static_cast<double>(product), static_cast<double>(a) * static_cast<double>(b) / 4294967296.0, 1e9)
      << a << " * " << b;
  };
  const i64 edges[] = { 0, 1, 2, Half, One - 1, One, One + 1, (One << 29) - 1, One << 30 };
  for (const i64 a : edges)
  {
    for (const i64 b : edges)
    {
      // A larger product does not fit.
      if (static_cast<double>(a) * static_cast<double>(b) <= std::ldexp(1.0, 94))
      {
        check(a, b);
        check(-a, b);
        check(a, -b);
        check(-a, -b);
      }
    }
  }
  Repeat(20000, [&](Random & random) {
    const i64 bits = DrawBetween(random, 0, 62);
    check(DrawOfBits(random, static_cast<int>(bits)),
          DrawOfBits(random, static_cast<int>(std::min<i64>(62, 94 - bits))));
  });
}

/** Three products are rounded down, each by less than a unit. The exact sum needs 79 bits, so the reference, a long double, may be off by
 *  up to a tenth of a unit. */
TEST(FixedMapTest, PositionsAreMapped)
{
  Repeat(5000, [](Random & random) {
    FixedMap map;
    for (int n = 0; n < 12; ++n)
    {
      map.row[n] = DrawOfBits(random, n % 4 == 3 ? 46 : 33);
    }
    const i64 position[] = { DrawOfBits(random, 46), DrawOfBits(random, 46), DrawOfBits(random, 46) };
    const int voxel[] = { static_cast<int>(DrawOfBits(random, 14)),
                          static_cast<int>(DrawOfBits(random, 14)),
                          static_cast<int>(DrawOfBits(random, 14)) };
    const i64 ofVoxel[] = { voxel[0] * One, voxel[1] * One, voxel[2] * One };
    for (int r = 0; r < 3; ++r)
    {
      long double exact = map.row[4 * r + 3];
      for (int c = 0; c < 3; ++c)
      {
        exact += static_cast<long double>(map.row[4 * r + c]) * position[c] / Units;
      }
      const auto excess = static_cast<double>(ApplyFixedRowAt(&map, r, position) - exact);
      EXPECT_LE(excess, 0.1);
      EXPECT_GT(excess, -3.1);
      EXPECT_EQ(ApplyFixedRowAt(&map, r, ofVoxel), ApplyFixedRow(&map, r, voxel[0], voxel[1], voxel[2]));
    }
  });
}

/** Errors in units: m up to 1, or 2^(1/2) if it is below 1; z 1, z^2 1.4, the series 1.6, and so their product 2.3, which is doubled; e
 *  ln 2 1.2. The sum is 7.3. */
TEST(FixedLogTest, IsTheLogarithm)
{
  const auto check = [](u64 n) {
    EXPECT_NEAR(static_cast<double>(FixedLogOf(n) - Units * std::log(static_cast<long double>(n))), 0.0, 7.5) << n;
  };
  EXPECT_EQ(FixedLogOf(1), 0);
  for (int e = 0; e < 64; ++e)
  {
    // Only e ln 2 is rounded.
    const u64 power = u64{ 1 } << e;
    EXPECT_NEAR(static_cast<double>(FixedLogOf(power) - Units * e * std::log(2.0L)), 0.0, 1.2) << e;
    check(power);
    check(power + 1);
    check(power + (power - 1));
    // On both sides of 2^(1/2), where the series needs the most terms.
    const auto middle = static_cast<u64>(std::ldexp(std::sqrt(2.0L), e));
    check(middle);
    check(middle + 1);
  }
  check(std::numeric_limits<u64>::max());
  Repeat(20000, [&](Random & random) { check(std::max<u64>(1, random() >> DrawBetween(random, 0, 63))); });
}

TEST(FixedMapTest, CellsAreRoundedDown)
{
  EXPECT_EQ(IntegerPart(0), 0);
  EXPECT_EQ(IntegerPart(-1), -1);
  EXPECT_EQ(IntegerPart(One - 1), 0);
  EXPECT_EQ(IntegerPart(One), 1);
  EXPECT_EQ(IntegerPart(-One), -1);
  EXPECT_EQ(IntegerPart(-One - 1), -2);
  EXPECT_EQ(IntegerPart(std::numeric_limits<i64>::max()), std::numeric_limits<int>::max());
  EXPECT_EQ(IntegerPart(std::numeric_limits<i64>::min()), std::numeric_limits<int>::min());
  Repeat(20000, [](Random & random) {
    const i64 position = DrawOfBits(random, 62);
    const i64 inside = position - IntegerPart(position) * One;
    EXPECT_GE(inside, 0) << position;
    EXPECT_LT(inside, One) << position;
    // A float of 24 bits.
    EXPECT_NEAR(FractionOf(position), std::ldexp(static_cast<double>(inside), -32), std::ldexp(1.0, -25)) << position;
  });
}

/** A float times 2^32 is exact; digits behind the last unit are truncated. */
TEST(FixedMapTest, DisplacementsBecomeFixed)
{
  const auto check = [](float u) {
    EXPECT_EQ(ToFixed(u), static_cast<i64>(std::ldexp(static_cast<double>(u), 32))) << u;
  };
  const float farthest = GPUREG_FARTHEST_DISPLACEMENT;
  const i64   end = i64{ 1 } << 62;
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ToFixed(1.0f), One);
  EXPECT_EQ(ToFixed(-0.5f), -Half);
  for (const float u : { 0.0f,
                         1.0f / 3.0f,
                         2.5f,
                         std::numeric_limits<float>::denorm_min(),
                         std::ldexp(1.0f, -32),
                         std::ldexp(1.75f, -32),
                         std::nextafter(farthest, 0.0f) })
  {
    check(u);
    check(-u);
  }
  for (const float u : { farthest, std::nextafter(farthest, infinity), std::numeric_limits<float>::max(), infinity })
  {
    EXPECT_EQ(ToFixed(u), end) << u;
    EXPECT_EQ(ToFixed(-u), -end) << u;
  }
  EXPECT_EQ(std::abs(ToFixed(std::numeric_limits<float>::quiet_NaN())), end);
  Repeat(20000, [&](Random & random) {
    check(std::ldexp(DrawFloat(random, -1.0f, 1.0f), static_cast<int>(DrawBetween(random, -34, 30))));
  });
}

TEST(FixedSplineTest, WeightsAreTheSplineAndSumToOne)
{
  const auto check = [](int order, i64 t) {
    i64 weights[MaximumSplineOrder + 1];
    FixedSplineWeights(order, t, weights);
    ExpectIsSpline(order, t, weights);
  };
  for (int order = 0; order <= MaximumSplineOrder; ++order)
  {
    for (const i64 t : { i64{ 0 }, i64{ 1 }, Half - 1, Half, Half + 1, One - 1 })
    {
      check(order, t);
    }
    Repeat(5000, [&](Random & random) { check(order, DrawBetween(random, 0, One - 1)); });
  }
  // The last value of a Parzen window.
  check(3, One);
}

/** The cell plus the fraction is the position, moved to the edge; and the cell's neighbours are voxels. */
TEST(FixedPointInterpolationTest, CellsArePositions)
{
  for (const VolumeShape & shape : Shapes)
  {
    Repeat(2000, [&](Random & random) {
      i64 position[3];
      for (int d = 0; d < 3; ++d)
      {
        position[d] = DrawIndex(random, shape.size[d]);
      }
      const FixedPointCell cell = LocateFixedPointCell(&shape, position);
      const i64            voxel[] = { cell.offset % shape.size[0],
                                       cell.offset / shape.size[0] % shape.size[1],
                                       cell.offset / shape.size[0] / shape.size[1] };
      EXPECT_GE(cell.offset, 0);
      for (int d = 0; d < 3; ++d)
      {
        EXPECT_EQ(voxel[d] * One + cell.fraction[d], std::clamp<i64>(position[d], 0, (shape.size[d] - 1) * One));
        EXPECT_GE(cell.fraction[d], 0);
        EXPECT_LE(cell.fraction[d], One);
        EXPECT_LE(voxel[d], shape.lastCell[d]);
      }
    });
  }
}

/** Along each axis, the term added to the first value is rounded down: 3 units at most, and never beyond the values. The reference sum
 *  has an error of less than 100 times the last digit of a long double. */
TEST(FixedPointInterpolationTest, LinearIsTrilinear)
{
  for (const i64 largest : { i64{ 1 }, One, i64{ 1 } << 46, i64{ 1 } << 60 })
  {
    for (const VolumeShape & shape : Shapes)
    {
      Repeat(300, [&](Random & random) {
        const std::vector<i64>   volume = DrawVolume(random, shape, largest);
        i64                      position[3];
        std::vector<long double> weights[3];
        for (int d = 0; d < 3; ++d)
        {
          position[d] = DrawIndex(random, shape.size[d]);
          const long double x = std::clamp<i64>(position[d], 0, (shape.size[d] - 1) * One) / Units;
          for (int k = 0; k < shape.size[d]; ++k)
          {
            weights[d].push_back(std::max(0.0L, 1 - std::abs(x - k)));
          }
        }
        const long double exact = SumWeighted(volume, shape, weights);
        const double      rounded =
          0.01 + 100.0 * static_cast<double>(largest * std::numeric_limits<long double>::epsilon());
        const i64 value = InterpolateFixed(volume.data(), &shape, position);
        EXPECT_LE(static_cast<double>(value - exact), rounded);
        EXPECT_GE(static_cast<double>(value - exact), -3 - rounded);
        EXPECT_LE(std::abs(value), largest);
      });
    }
  }
}

/** A field's vectors are interpolated as values are. */
TEST(FixedPointInterpolationTest, DisplacementsAreTrilinear)
{
  for (const VolumeShape & shape : Shapes)
  {
    Repeat(100, [&](Random & random) {
      std::vector<i64> components[3], field;
      for (auto & component : components)
      {
        component = DrawVolume(random, shape, i64{ 1 } << 61);
      }
      for (std::size_t voxel = 0; voxel < components[0].size(); ++voxel)
      {
        for (const auto & component : components)
        {
          field.push_back(component[voxel]);
        }
      }
      SampleVolumes volumes{};
      volumes.displacementInFixedPoint = field.data();
      i64 point[3];
      for (int d = 0; d < 3; ++d)
      {
        point[d] = DrawIndex(random, shape.size[d]);
      }
      i64 position[3] = { One, -Half, 7 };
      MoveBetweenInFixedPoint(&volumes, &shape, point, position);
      EXPECT_EQ(position[0] - One, InterpolateFixed(components[0].data(), &shape, point));
      EXPECT_EQ(position[1] + Half, InterpolateFixed(components[1].data(), &shape, point));
      EXPECT_EQ(position[2] - 7, InterpolateFixed(components[2].data(), &shape, point));
      const i64 voxel = DrawBetween(random, 0, static_cast<i64>(components[0].size()) - 1);
      i64       moved[3] = { 0, 0, 0 };
      MoveInFixedPoint(&volumes, voxel, moved);
      for (int d = 0; d < 3; ++d)
      {
        EXPECT_EQ(moved[d], components[d][voxel]);
      }
    });
  }
}

namespace
{
/** A grid of random vectors. */
struct RandomGrid
{
  ChainPart        part{};
  std::vector<i64> components[3];
  std::vector<i64> vectors;
  VolumeShape      shape{};

  RandomGrid(Random & random, int kind, int order, int dimension)
  {
    part.kind = kind;
    part.order = order;
    part.dimension = dimension;
    part.isOpen = static_cast<int>(random() % 2);
    part.slack = static_cast<int>(random() % 2) * 300;
    for (int axis = 0; axis < 3; ++axis)
    {
      part.size[axis] = axis < dimension ? order + 1 + static_cast<int>(random() % 4) : 1;
    }
    shape = MakeVolumeShape(part.size[0], part.size[1], part.size[2]);
    for (auto & component : components)
    {
      component = DrawVolume(random, shape, i64{ 1 } << 45);
    }
    for (std::size_t n = 0; n < components[0].size(); ++n)
    {
      for (const auto & component : components)
      {
        vectors.push_back(component[n]);
      }
    }
  }
};

/** Returns an index for a B-spline, often on the edges of its valid region. */
i64
DrawSplineIndex(Random & random, const ChainPart & part, int axis)
{
  const i64 first = (part.order - 1) * Half;
  const i64 last = (part.size[axis] - 1) * One - first;
  const i64 steps[] = { 0, 1, -1, part.slack, -part.slack, part.slack + 1, -part.slack - 1 };
  const i64 n = DrawBetween(random, 0, 20);
  return n < 14 ? (n % 2 ? first : last) + steps[n / 2] : DrawIndex(random, part.size[axis]);
}

/** Returns the weights of an axis' control points; none outside of the valid region. A position within its slack of an end lies on it. */
std::vector<long double>
ControlPointWeights(const ChainPart & part, int axis, i64 position)
{
  const int                order = part.order;
  const int                size = part.size[axis];
  const long double        first = (order - 1) / 2.0L;
  const long double        last = size - 1 - first;
  const long double        slack = part.slack / Units;
  long double              x = position / Units;
  std::vector<long double> weights;
  x = x < first && x >= first - slack ? first : x;
  x = std::abs(x - last) <= slack && (x > last || part.isOpen) ? last : x;
  if (x < first || x > last || (x == last && part.isOpen))
  {
    return weights;
  }
  for (int k = 0; k < size; ++k)
  {
    weights.push_back(BSpline(order, x - k));
  }
  return weights;
}
} // namespace

TEST(FixedPointGridTest, SplineIsTheSpline)
{
  for (int order = 1; order <= MaximumTransformSplineOrder; ++order)
  {
    for (const int dimension : { 2, 3 })
    {
      Repeat(300, [&](Random & random) {
        const RandomGrid         grid(random, ChainPartIsSpline, order, dimension);
        i64                      position[3] = { 0, 0, 0 };
        std::vector<long double> weights[3];
        weights[2] = { 1.0L };
        bool isInside = true;
        for (int d = 0; d < dimension; ++d)
        {
          position[d] = DrawSplineIndex(random, grid.part, d);
          weights[d] = ControlPointWeights(grid.part, d, position[d]);
          isInside = isInside && !weights[d].empty();
        }
        i64 d[3] = { One, -Half, 7 };
        AddFixedSplineDisplacement(&grid.part, grid.vectors.data(), position, d);
        const i64 before[3] = { One, -Half, 7 };
        for (int r = 0; r < 3; ++r)
        {
          const auto exact = isInside ? SumWeighted(grid.components[r], grid.shape, weights) : 0.0L;
          // The sums of three axes' products are rounded, and weights have errors of up to MostLost units, for vectors of 2^13 voxels.
          const double tolerance = 3 * (order + 1) + 3 * 2 * MostLost[order] * std::ldexp(1.0, 45 - 32);
          EXPECT_NEAR(static_cast<double>(d[r] - before[r] - exact), 0.0, isInside ? tolerance : 0.0);
        }
      });
    }
  }
}

TEST(FixedPointGridTest, FieldIsTrilinearInsideAlone)
{
  for (const int dimension : { 2, 3 })
  {
    Repeat(300, [&](Random & random) {
      const RandomGrid grid(random, ChainPartIsField, 1, dimension);
      i64              position[3] = { 0, 0, 0 };
      for (int d = 0; d < dimension; ++d)
      {
        position[d] = DrawIndex(random, grid.part.size[d]);
      }
      i64 d[3] = { One, -Half, 7 };
      AddFixedFieldDisplacement(&grid.part, grid.vectors.data(), position, d);
      const bool isInside = IsPositionInside(&grid.shape, position);
      EXPECT_EQ(d[0] - One, isInside ? InterpolateFixed(grid.components[0].data(), &grid.shape, position) : 0);
      EXPECT_EQ(d[1] + Half, isInside ? InterpolateFixed(grid.components[1].data(), &grid.shape, position) : 0);
      EXPECT_EQ(d[2] - 7, isInside ? InterpolateFixed(grid.components[2].data(), &grid.shape, position) : 0);
    });
  }
}

/** A displacement that leads out stays outside, for any carry. */
TEST(FixedPointGridTest, CarriesWithoutOverflow)
{
  Repeat(300, [&](Random & random) {
    ChainPart   part{};
    i64         d[3];
    long double carried[3] = { 0, 0, 0 };
    for (i64 & entry : part.fixedCarry)
    {
      entry = DrawBetween(random, -GPUREG_LARGEST_FIXED_POINT_CARRY * One, GPUREG_LARGEST_FIXED_POINT_CARRY * One);
    }
    for (int c = 0; c < 3; ++c)
    {
      d[c] = DrawBetween(random, -(i64{ 1 } << 62), i64{ 1 } << 62) >> (random() % 40);
      const auto within = std::clamp<i64>(d[c], -GPUREG_FARTHEST_FIXED_POINT_MOVE, GPUREG_FARTHEST_FIXED_POINT_MOVE);
      for (int r = 0; r < 3; ++r)
      {
        carried[r] += part.fixedCarry[3 * r + c] / Units * within;
      }
    }
    CarryInFixedPoint(part.fixedCarry, d);
    for (int r = 0; r < 3; ++r)
    {
      EXPECT_NEAR(static_cast<double>(d[r] - carried[r]), 0.0, 3.0);
    }
  });
}

TEST(FixedPointInterpolationTest, VoxelsAreTheirValues)
{
  for (const VolumeShape & shape : Shapes)
  {
    Repeat(10, [&](Random & random) {
      const std::vector<i64> volume = DrawVolume(random, shape, i64{ 1 } << 60);
      for (std::size_t n = 0; n < volume.size(); ++n)
      {
        const auto columns = static_cast<std::size_t>(shape.size[0]);
        const auto rows = static_cast<std::size_t>(shape.size[1]);
        const i64  position[] = { static_cast<i64>(n % columns) * One,
                                  static_cast<i64>(n / columns % rows) * One,
                                  static_cast<i64>(n / columns / rows) * One };
        EXPECT_EQ(InterpolateFixed(volume.data(), &shape, position), volume[n]);
        EXPECT_EQ(InterpolateFixedBSpline(volume.data(), &shape, 0, position), volume[n]);
        EXPECT_EQ(InterpolateFixedBSpline(volume.data(), &shape, 1, position), volume[n]);
        EXPECT_EQ(NearestVoxelOffset(&shape, position), static_cast<i64>(n));
      }
    });
  }
}

/** Along each axis, order + 1 products are rounded down, and the weights have the errors of ExpectIsSpline, times the largest value. */
TEST(FixedPointInterpolationTest, SplineIsTheSpline)
{
  for (const i64 largest : { i64{ 1 }, One, i64{ 1 } << 46, i64{ 1 } << 60 })
  {
    for (const VolumeShape & shape : Shapes)
    {
      for (int order = 0; order <= MaximumSplineOrder; ++order)
      {
        Repeat(50, [&](Random & random) {
          const std::vector<i64>   volume = DrawVolume(random, shape, largest);
          i64                      position[3];
          std::vector<long double> weights[3];
          for (int d = 0; d < 3; ++d)
          {
            position[d] = DrawIndex(random, shape.size[d]);
            weights[d] = SplineWeightsOfSamples(order, shape.size[d], position[d]);
          }
          const auto   exact = SumWeighted(volume, shape, weights);
          const double size = static_cast<double>(largest);
          const double tolerance = 3 * (order + 1) + 3 * 2 * MostLost[order] * std::ldexp(size, -32) + 1e-13 * size;
          const i64    value = InterpolateFixedBSpline(volume.data(), &shape, order, position);
          EXPECT_NEAR(static_cast<double>(value - exact), 0.0, tolerance) << "order " << order << " of " << largest;
        });
      }
    }
  }
}

TEST(FixedPointParzenTest, HalvesAreTheCubicSplineAndSumToOne)
{
  const auto check = [](i64 t) {
    u32 high[4], low[4];
    i64 weights[4];
    ParzenWeightHalves(t, high, low);
    for (int k = 0; k < 4; ++k)
    {
      EXPECT_LE(low[k], 0xFFFFu) << t;
      weights[k] = static_cast<i64>(high[k]) * 65536 + low[k];
    }
    ExpectIsSpline(3, t, weights);
  };
  for (const i64 t : { i64{ 0 }, i64{ 1 }, Half, One - 1, One })
  {
    check(t);
  }
  Repeat(20000, [&](Random & random) { check(DrawBetween(random, 0, One)); });
}

/** The range's 2^47 units, times half a unit of valuesPerUnit, are 1/4 of a unit here; rounding down loses hardly more than 1. So the
 *  range's end is in the last bin, and t is no more than 1. */
TEST(FixedPointParzenTest, BinsAreTheValues)
{
  for (const int bins : { 5, 20, 100, 4096 })
  {
    Repeat(2000, [&](Random & random) {
      const i64       range = DrawBetween(random, 0, 15) + (i64{ 1 } << DrawBetween(random, 31, 46)) * 3 / 2;
      MattesArguments a{};
      SampleMaps      maps{};
      const int       whole = bins - 2 * HistogramPadding;
      a.lastWhole = static_cast<float>(whole - 1);
      maps.valuesPerUnit = std::llround(std::ldexp(whole / static_cast<double>(range), 80));
      for (const i64 value : { i64{ 0 }, i64{ 1 }, range / 2, range - 1, range, DrawBetween(random, 0, range) })
      {
        i64               t = -1;
        const int         first = FirstFixedPointParzenBin(&a, &maps, value, &t);
        const long double exact = static_cast<long double>(whole) * value / range * Units;
        const i64         found = (first - (HistogramPadding - 1)) * One + t;
        EXPECT_NEAR(static_cast<double>(found - exact), -0.5, 0.8) << value << " of " << range;
        EXPECT_GE(t, 0) << value << " of " << range;
        EXPECT_LE(t, One) << value << " of " << range;
        EXPECT_GE(first, HistogramPadding - 1);
        EXPECT_LE(first + 3, bins - 1);
      }
    });
  }
}

/** A count of 0 stands for a quarter of the histogram's unit. */
TEST(FixedPointTableTest, LogarithmsOfCounts)
{
  EXPECT_EQ(LogOfCount(1), 0);
  EXPECT_NEAR(static_cast<double>(LogOfCount(0) + Units * std::log(4.0L)), 0.0, 1.2);
  Repeat(1000, [](Random & random) {
    const u64 count = std::max<u64>(1, random() >> DrawBetween(random, 0, 63));
    EXPECT_EQ(LogOfCount(count), FixedLogOf(count));
  });
}

/** The first product is rounded down, by up to 1, which is multiplied by the second factor; the second product is rounded down, too. */
TEST(FixedPointTableTest, EntriesAreTheDerivative)
{
  Repeat(20000, [](Random & random) {
    const i64   joint = LogOfCount(random() >> DrawBetween(random, 0, 63));
    const i64   marginal = LogOfCount(random() >> DrawBetween(random, 0, 63));
    const float nmi = DrawFloat(random, 1.0f, 2.0f);
    EXPECT_EQ(FixedPointTableEntry(0, joint, marginal, nmi, 0.3f), joint - marginal);
    for (const float inverse : { DrawFloat(random, 0.05f, 3.0f),
                                 DrawFloat(random, 3.0f, 65536.0f),
                                 65536.0f,
                                 1e9f,
                                 std::numeric_limits<float>::infinity() })
    {
      const long double used = std::min(inverse, 65536.0f);
      const long double exact = (static_cast<long double>(joint) * nmi - marginal) * used;
      const auto        excess = static_cast<double>(FixedPointTableEntry(1, joint, marginal, nmi, inverse) - exact);
      EXPECT_LE(excess, 0.01 + 1e-15 * std::abs(static_cast<double>(exact)));
      EXPECT_GT(excess, -1.01 - static_cast<double>(used) - 1e-15 * std::abs(static_cast<double>(exact)));
    }
    // Without entropy, there is no derivative.
    EXPECT_EQ(FixedPointTableEntry(1, joint, marginal, nmi, 0.0f), 0);
  });
}

/** Large multiples of 2^-20 that cancel. Sums stay below 2^11, so each addition rounds by up to 2^-14, and all by less than 1: the
 *  second float holds this, so nothing is lost. */
TEST(ForceSumsTest, NothingIsLostOfSumsThatNearlyCancel)
{
  int misses = 0;
  Repeat(200, [&](Random & random) {
    float  sum = 0, rest = 0, plain = 0;
    double exact = 0;
    for (int n = 0; n < 1000; ++n)
    {
      const float large = std::ldexp(static_cast<float>(DrawBetween(random, -(1 << 24), 1 << 24)), -14);
      const float small = std::ldexp(static_cast<float>(DrawBetween(random, -(1 << 10), 1 << 10)), -20);
      for (const float value : { large, small, -large })
      {
        AddExactly(value, &sum, &rest);
        plain += value;
        exact += value;
      }
    }
    EXPECT_EQ(static_cast<double>(sum) + rest, exact);
    misses += static_cast<double>(plain) != exact;
  });
  // Otherwise the test would show nothing.
  EXPECT_GT(misses, 0);
}

/** Two floats hold 48 bits of each factor; the product leaves out that of both rests, a relative 2^-48, and its own rest is rounded by
 *  as much. */
TEST(ForceSumsTest, ProductsKeepWhatAFloatCannotHold)
{
  const float unit = std::ldexp(1.0f, -46);
  Repeat(1000, [unit](Random & random) {
    const i64          a = DrawOfBits(random, 60);
    const i64          b = DrawOfBits(random, 60);
    const FloatAndRest splitA = SplitInteger(a, unit);
    const FloatAndRest splitB = SplitInteger(b, unit);
    const long double  exactA = std::ldexp(static_cast<long double>(a), -46);
    const long double  exact = exactA * std::ldexp(static_cast<long double>(b), -46);
    const FloatAndRest product = MultiplyExactly(splitA, splitB);
    EXPECT_LE(std::abs(static_cast<double>(static_cast<long double>(splitA.value) + splitA.rest - exactA)),
              std::ldexp(std::abs(static_cast<double>(exactA)), -47));
    EXPECT_LE(std::abs(static_cast<double>(static_cast<long double>(product.value) + product.rest - exact)),
              std::ldexp(std::abs(static_cast<double>(exact)), -45));
  });
}

/** Multiples of 2^-13 whose sums, below 2^17, round by up to 2^-7 in each addition, and by less than 2^3 in all. */
TEST(ForceSumsTest, NothingIsLostOfSumsOfProducts)
{
  Repeat(200, [](Random & random) {
    float  sums[2 * ForceSumCount] = {};
    double exact[ForceSumCount] = {};
    for (int n = 0; n < 1000; ++n)
    {
      float force[3], x[3];
      for (int c = 0; c < 3; ++c)
      {
        force[c] = std::ldexp(static_cast<float>(DrawBetween(random, -(1 << 10), 1 << 10)), -10);
        x[c] = std::ldexp(static_cast<float>(DrawBetween(random, -(1 << 10), 1 << 10)), -3);
      }
      AddForceExactly(sums, force, x);
      for (int c = 0; c < 3; ++c)
      {
        exact[c] += force[c];
        for (int d = 0; d < 3; ++d)
        {
          exact[3 + 3 * d + c] += static_cast<double>(force[c]) * x[d];
        }
      }
    }
    for (int s = 0; s < ForceSumCount; ++s)
    {
      EXPECT_EQ(static_cast<double>(sums[s]) + sums[ForceSumCount + s], exact[s]) << s;
    }
  });
}

/** One unit on each side of each edge, and displacements that lead beyond all images. */
TEST(PositionTest, EdgesAreHalfOpen)
{
  for (const VolumeShape & shape : Shapes)
  {
    for (int d = 0; d < 3; ++d)
    {
      const auto isInside = [&](i64 along) {
        i64 position[] = { 0, 0, 0 };
        position[d] = along;
        return IsPositionInside(&shape, position);
      };
      const i64 end = shape.size[d] * One - Half;
      EXPECT_EQ(isInside(-Half), 1);
      EXPECT_EQ(isInside(-Half - 1), 0);
      EXPECT_EQ(isInside(0), 1);
      EXPECT_EQ(isInside(end - 1), 1);
      EXPECT_EQ(isInside(end), 0);
      EXPECT_EQ(isInside(ToFixed(GPUREG_FARTHEST_DISPLACEMENT)), 0);
      EXPECT_EQ(isInside(ToFixed(-GPUREG_FARTHEST_DISPLACEMENT)), 0);
      EXPECT_EQ(isInside(ToFixed(std::numeric_limits<float>::quiet_NaN())), 0);
    }
  }
}

/** A fraction is a float of 24 bits, exact to 2^-25. */
TEST(PositionTest, LinearNeighboursAreThePosition)
{
  for (const int size : { 1, 2, 3, 9 })
  {
    const int  lastCell = std::max(0, size - 2);
    const auto check = [&](i64 position) {
      float     fraction = -1.0f;
      const int cell = LocateLinearNeighbour(position, lastCell, &fraction);
      EXPECT_GE(cell, 0) << position;
      EXPECT_LE(cell, lastCell) << position;
      EXPECT_GE(fraction, 0.0f) << position;
      EXPECT_LE(fraction, 1.0f) << position;
      // A volume of one voxel repeats it, for any fraction.
      const i64 moved = std::clamp<i64>(position, 0, (lastCell + 1) * One);
      EXPECT_NEAR(cell + static_cast<double>(fraction),
                  std::ldexp(static_cast<double>(moved), -32),
                  std::ldexp(1.0, -25))
        << position << " of " << size;
    };
    const i64 last = (size - 1) * One;
    for (const i64 position : { -Half, i64{ -1 }, i64{ 0 }, i64{ 1 }, One - 1, One, last - 1, last, last + Half - 1 })
    {
      check(position);
    }
    Repeat(2000, [&](Random & random) { check(DrawIndex(random, size)); });
  }
  float fraction = -1.0f;
  EXPECT_EQ(LocateLinearNeighbour(-1, 7, &fraction), 0);
  EXPECT_EQ(fraction, 0.0f);
  EXPECT_EQ(LocateLinearNeighbour(8 * One, 7, &fraction), 7);
  EXPECT_EQ(fraction, 1.0f);
  EXPECT_EQ(LocateLinearNeighbour(8 * One - 1, 7, &fraction), 7);
  EXPECT_EQ(fraction, 1.0f);
}

/** As in CUDA's arithmetic. Half of all floats whose last digit is worth half a unit are halves. */
TEST(CountTest, HalvesGoToTheEvenNumber)
{
  const float most = 4194303.5f;
  for (const float count : { 0.0f, 0.5f, 1.5f, 2.5f, 3.0f, 3.5f, 1023.5f, most - 1.0f, most })
  {
    EXPECT_EQ(ToCount(count, 1.0f), static_cast<u32>(std::nearbyint(count))) << count;
    EXPECT_EQ(ToCount(count / 32.0f, 32.0f), static_cast<u32>(std::nearbyint(count))) << count;
  }
  Repeat(20000, [&](Random & random) {
    const float count = std::uniform_real_distribution<float>(0.0f, most)(random);
    EXPECT_EQ(ToCount(count, 1.0f), static_cast<u32>(std::nearbyint(count))) << count;
  });
}

/** A 64-bit quotient has an error of up to 2 units of each of the digits that are dropped from dividend and divisor. */
TEST(CorrelationRatioTableTest, QuotientsAreExactToAFewUnits)
{
  EXPECT_EQ(DivideFixed(0, 0), 0);
  EXPECT_EQ(DivideFixed(0, 7), 0);
  for (int bits = 0; bits < 64; ++bits)
  {
    const u64 b = u64{ 1 } << bits;
    EXPECT_EQ(DivideFixed(b, b), One);
    EXPECT_EQ(DivideFixed(2 * b - 1, 2 * b - 1), One);
    EXPECT_EQ(DivideFixed(b / 2, b), bits > 0 ? Half : 0);
  }
  Repeat(20000, [](Random & random) {
    const u64         b = static_cast<u64>(std::abs(DrawOfBits(random, 62))) + 1;
    const u64         a = std::uniform_int_distribution<u64>(0, b)(random);
    const long double exact = static_cast<long double>(a) / static_cast<long double>(b) * Units;
    EXPECT_NEAR(static_cast<double>(static_cast<long double>(DivideFixed(a, b)) - exact), 0.0, 4.0) << a << '/' << b;
  });
}

/** A truncated mean would cause an error in Σ Y² - (Σ Y)²/N, the larger, the closer the values are; here its error enters only as its
 *  square. */
TEST(CorrelationRatioTableTest, SquaresOfSumsAreExactToAUnit)
{
  const CorrelationRatioSums none{};
  EXPECT_EQ(SquareOfSum(&none), u64{ 0 });
  Repeat(20000, [](Random & random) {
    CorrelationRatioSums sums{};
    sums.count = static_cast<u64>(std::abs(DrawOfBits(random, 56))) + 1;
    sums.sum = std::uniform_int_distribution<u64>(0, sums.count)(random);
    const auto        sum = static_cast<long double>(sums.sum);
    const long double exact = sum * sum / static_cast<long double>(sums.count);
    EXPECT_LE(std::abs(static_cast<long double>(SquareOfSum(&sums)) - exact), 1.1L) << sums.sum << " of " << sums.count;
  });
}

TEST(CorrelationRatioTableTest, TheRatioIsBetween0And1)
{
  EXPECT_EQ(RatioOfDeviations(0, 0), 0);
  EXPECT_EQ(RatioOfDeviations(5, 0), 0);
  EXPECT_EQ(RatioOfDeviations(5, -1), 0);
  EXPECT_EQ(RatioOfDeviations(-5, 7), 0);
  EXPECT_EQ(RatioOfDeviations(7, 7), One);
  EXPECT_EQ(RatioOfDeviations(8, 7), One);
  EXPECT_EQ(RatioOfDeviations(i64{ 1 } << 61, i64{ 1 } << 62), Half);
  EXPECT_EQ(RatioOfDeviations(std::numeric_limits<i64>::max(), std::numeric_limits<i64>::max()), One);
}

/** As floats, a bin's mean is stored in two of them, which together have all of its 32 bits. */
TEST(CorrelationRatioTableTest, RowsKeepAllOfTheBinsMean)
{
  Repeat(5000, [](Random & random) {
    constexpr int Row = 3;
    const i64     meanOfBin = DrawBetween(random, 0, One);
    const i64     mean = DrawBetween(random, 0, One);
    const i64     ratio = DrawBetween(random, 0, One);
    float         floats[(Row + 2) * CorrelationRatioTableColumns] = {};
    WriteTableRow(0, Row, meanOfBin, mean, ratio, floats);
    const float * row = floats + Row * CorrelationRatioTableColumns;
    EXPECT_EQ((static_cast<double>(row[CorrelationRatioMeanOfBin]) + row[CorrelationRatioMeanRest]) * 4294967296.0,
              static_cast<double>(meanOfBin));
    EXPECT_LT(std::abs(row[CorrelationRatioMeanRest]), 256 * GPUREG_FIXED_UNIT);
    EXPECT_FLOAT_EQ(row[CorrelationRatioMean], static_cast<float>(mean) * GPUREG_FIXED_UNIT);
    EXPECT_FLOAT_EQ(row[CorrelationRatioRatio], static_cast<float>(ratio) * GPUREG_FIXED_UNIT);
    EXPECT_EQ(row[-1], 0.0f);
    EXPECT_EQ(row[CorrelationRatioTableColumns], 0.0f);

    i64 integers[(Row + 2) * CorrelationRatioTableColumns] = {};
    WriteTableRow(SamplesAreFixedPoint, Row, meanOfBin, mean, ratio, integers);
    const i64 * fixedPointRow = integers + Row * CorrelationRatioTableColumns;
    EXPECT_EQ(fixedPointRow[CorrelationRatioMeanOfBin], meanOfBin);
    EXPECT_EQ(fixedPointRow[CorrelationRatioMeanRest], 0);
    EXPECT_EQ(fixedPointRow[CorrelationRatioMean], mean);
    EXPECT_EQ(fixedPointRow[CorrelationRatioRatio], ratio);
    EXPECT_EQ(fixedPointRow[-1], 0);
    EXPECT_EQ(fixedPointRow[CorrelationRatioTableColumns], 0);
  });
}

/** A chunk with the most samples, whose values and remainders are the largest possible: no counter overflows into another. */
TEST(CorrelationRatioTableTest, AFullChunkIsReadAsItWasCounted)
{
  constexpr u32             Most = MostSamplesOfCorrelationRatio;
  constexpr u32             Rest = 1 << CorrelationRatioRestBits;
  constexpr u32             Unit = 1 << 18;
  CorrelationRatioArguments a{};
  const int                 columns = CountCorrelationRatioColumns(0);
  a.histogram.rows = 4;
  a.histogram.columns = columns;
  a.histogram.countUnit = Unit;
  // Two chunks of four bins; the last bin of the second chunk is full.
  const std::size_t cells = 4 * static_cast<std::size_t>(columns);
  std::vector<u32>  counters(2 * cells, 77);
  u32 * const       chunk = counters.data() + cells;
  u32 * const       row = chunk + 3 * columns;
  std::fill(chunk, chunk + cells, 0u);
  u64 squares = 0;
  for (u32 n = 0; n < Most; ++n)
  {
    row[CorrelationRatioCount] += (u32{ 1 } << CorrelationRatioCountShift) + Rest;
    row[CorrelationRatioSum] += Unit;
    squares += u64{ Unit } * Rest + Rest;
  }
  // As many lanes as rows, and one more: each has all samples.
  constexpr int LaneCount = 5;
  for (int lane = 0; lane < LaneCount; ++lane)
  {
    CountLaneSum(0, &a, squares, lane, a.histogram.rows, chunk, 1);
  }
  const auto read = [&](int of, int column) { return ReadChunk(0, &a, counters.data(), 1, of * columns + column); };
  u64        joined[CorrelationRatioColumns];
  JoinRow(0, &a, 3, row, nullptr, joined);
  for (const u64 count : { read(3, CorrelationRatioCount), joined[CorrelationRatioCount] })
  {
    EXPECT_EQ(count, u64{ Most } * Unit * Rest);
  }
  for (const u64 sum : { read(3, CorrelationRatioSum), joined[CorrelationRatioSum] })
  {
    EXPECT_EQ(sum, u64{ Most } * (u64{ Unit } * Rest + Rest));
  }
  EXPECT_EQ(joined[CorrelationRatioSquares], read(3, CorrelationRatioSquares));
  u64 sumOfSquares = 0;
  for (int of = 0; of < a.histogram.rows; ++of)
  {
    EXPECT_EQ(read(of, CorrelationRatioCount) == 0, of != 3);
    sumOfSquares += read(of, CorrelationRatioSquares);
  }
  EXPECT_EQ(sumOfSquares, LaneCount * squares);
}

/** The counters of fixed-point variants: 16-bit halves, the low ones behind all of the high ones. */
TEST(CorrelationRatioTableTest, AFixedPointChunkIsReadAsItWasCounted)
{
  CorrelationRatioArguments a{};
  a.histogram.rows = 3;
  a.histogram.columns = CorrelationRatioColumns;
  a.histogram.countUnit = GPUREG_FIXED_POINT_COUNT_UNIT;
  const int        cells = a.histogram.rows * CorrelationRatioColumns;
  std::vector<u32> counters(4 * static_cast<std::size_t>(cells));
  Random           random(5);
  for (u32 & counter : counters)
  {
    counter = static_cast<u32>(random());
  }
  for (int chunk = 0; chunk < 2; ++chunk)
  {
    for (int cell = 0; cell < cells; ++cell)
    {
      const u32 * high = counters.data() + chunk * 2 * cells + cell;
      const u64   expected = (u64{ high[0] } << 16) + high[cells];
      const int   column = cell % CorrelationRatioColumns;
      u64         joined[CorrelationRatioColumns];
      JoinRow(SamplesAreFixedPoint, &a, cell / CorrelationRatioColumns, high - column, high - column + cells, joined);
      EXPECT_EQ(ReadChunk(SamplesAreFixedPoint, &a, counters.data(), chunk, cell), expected);
      EXPECT_EQ(joined[column], expected);
    }
  }
}

/** The weight is 0 at the edges, 1 from the distance on, and linear in between, on both sides; its gradient is the slope. */
TEST(BorderWeightTest, RisesFromTheEdges)
{
  const VolumeShape shape = MakeVolumeShape(40, 10, 1);
  BorderArguments   border{};
  border.perVoxel[0] = 0.25f; // 4 voxels
  border.perVoxel[1] = 0.1f;  // 10 voxels: the ramps meet
  // The third axis has no border. Physical axes are the image's, rotated: x' = y, y' = -x; voxels of 2 mm and 1 mm.
  border.perMillimetre[0 * 3 + 1] = -0.25f / 2;
  border.perMillimetre[1 * 3 + 0] = 0.1f;
  const auto weigh = [&](double x, double y) {
    const i64 position[3] = { std::llround(std::ldexp(x, 32)), std::llround(std::ldexp(y, 32)), 0 };
    return ComputeBorderWeight(&border, &shape, position);
  };
  EXPECT_EQ(weigh(-0.5, 4.5), 0.0f);
  EXPECT_EQ(weigh(20, -0.5), 0.0f);
  EXPECT_NEAR(weigh(39.5 - 1e-6, 4.5), 0.0f, 1e-6);
  EXPECT_FLOAT_EQ(weigh(0.5, 4.5), 0.25f * 0.5f);
  EXPECT_FLOAT_EQ(weigh(38.5, 4.5), 0.25f * 0.5f);
  EXPECT_FLOAT_EQ(weigh(20, 4.5), 0.5f);
  EXPECT_FLOAT_EQ(weigh(3.5, 1.5), 0.2f);
  EXPECT_FLOAT_EQ(weigh(20, 8.5), 0.1f);
  for (const double x : { 0.3, 1.9, 7.0, 38.0 })
  {
    for (const double y : { 0.4, 3.0, 7.7 })
    {
      const double step = 1e-3;
      const i64    position[3] = { std::llround(std::ldexp(x, 32)), std::llround(std::ldexp(y, 32)), 0 };
      float        gradient[3];
      EXPECT_EQ(ComputeBorderWeightAndGradient(&border, &shape, position, gradient), weigh(x, y));
      EXPECT_NEAR(gradient[0], (weigh(x, y + step) - weigh(x, y - step)) / (2 * step), 2e-4);
      EXPECT_NEAR(gradient[1], -(weigh(x + step, y) - weigh(x - step, y)) / (2 * step) / 2, 2e-4);
      EXPECT_EQ(gradient[2], 0.0f);
    }
  }
}

/** A sample by its number equals the sample that a lane's walk reaches. */
TEST(SamplePartitionTest, ASampleByItselfIsWhereAWalkComesTo)
{
  Random          random(6);
  SampleArguments a{};
  SampleMaps      maps{};
  for (i64 & entry : maps.toMoving.row)
  {
    entry = DrawOfBits(random, 40);
  }
  a.virtualShape = MakeVolumeShape(37, 11, 9);
  a.tileDepth = 4;
  a.tileCount[0] = 2;
  a.tileCount[1] = 6;
  a.tileCount[2] = 3;
  int visited = 0;
  for (int chunk = 0; chunk < ChunkCount(&a); ++chunk)
  {
    for (int lane = 0; lane < 64; ++lane)
    {
      LaneWalk walk = StartLaneWalk(0, &a, &maps, chunk, 64, lane);
      for (int step = 0; step < walk.count; ++step, AdvanceLaneWalk(0, &maps, &walk))
      {
        const LaneWalk alone = StartWalkAt(0, &a, &maps, static_cast<u32>(walk.sample));
        EXPECT_EQ(alone.sample, walk.sample);
        for (int d = 0; d < 3; ++d)
        {
          EXPECT_EQ(alone.x[d], walk.x[d]);
          EXPECT_EQ(alone.mapped[d], walk.mapped[d]);
        }
        ++visited;
      }
    }
  }
  EXPECT_EQ(visited, 37 * 11 * 9);
  EXPECT_EQ(StartWalkAt(SamplesArePoints, &a, &maps, 4294967295u).sample, i64{ 4294967295 });
}

} // namespace gpuregtest
