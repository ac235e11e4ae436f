// SPDX-License-Identifier: Apache-2.0
// Compares the fixed-point formulas of src/kernels that map points and interpolate with their definitions in long double, at edges and at
// random values. Tolerances are in units, and follow from the roundings.
#include "FixedPointCase.h"

#include "kernels/metric/samples/Position.h"
#include "kernels/metric/samples/Interpolation.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/metric/samples/ForceSums.h"
#include "kernels/metric/samples/Samples.h"
#include "kernels/metric/samples/FixedPointSamples.h"
#include "kernels/metric/samples/FixedPointGrid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace gpuregtest
{

namespace
{
using namespace fixedpoint;
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

} // namespace gpuregtest
