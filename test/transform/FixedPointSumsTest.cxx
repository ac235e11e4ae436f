// SPDX-License-Identifier: Apache-2.0
// Compares the fixed-point formulas of src/kernels by which metrics count samples and sum forces with their definitions in long double, at
// edges and at random values. Tolerances are in units, and follow from the roundings.
#include "FixedPointCase.h"

#include "kernels/metric/samples/Position.h"
#include "kernels/metric/samples/Interpolation.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/metric/samples/ForceSums.h"
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
