// SPDX-License-Identifier: Apache-2.0
// Tests the resampler's work-groups (ResampleCut.h, ResampleKernels.h) on the host, lane by lane as on a device.
#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/resample/ResampleArguments.h"
#include "kernels/resample/ResampleInterpolation.h"
#include "kernels/resample/Resample.h"
#include "kernels/resample/ResampleCut.h"

#include "RandomGrid.h"
#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

// Defines what the host's prelude only declares.
namespace gpureg
{
namespace kernels
{

/** The lane that is running. */
struct RunningLane
{
  int  lane = 0;
  int  group = 0;
  int  groupY = 0;
  bool stopsAtBarrier = false;
};

inline RunningLane running;

/** Thrown where a lane must wait for the others of its row. */
struct AtBarrier
{};

inline int
LaneIndex()
{
  return running.lane;
}

inline int
GroupIndex()
{
  return running.group;
}

inline int
GroupIndexY()
{
  return running.groupY;
}

inline void
RowBarrier()
{
  if (running.stopsAtBarrier)
  {
    throw AtBarrier();
  }
}

} // namespace kernels
} // namespace gpureg

#include "kernels/resample/ResampleKernels.h"

namespace gpuregtest
{

namespace
{
using namespace gpureg::kernels;

constexpr double Untouched = -1;

/** A launch's arrays. Coordinates and values are doubles, so that differences are not caused by rounding. */
struct Arrays
{
  std::vector<ChainPart> parts;
  std::vector<float4>    vectors;
  std::vector<double>    input;
  /** Rows of the output, with others before and behind them that do not belong to the launch. */
  std::vector<double> output;
  std::int64_t        first = 0;
  std::int64_t        count = 0;

  void
  SetOutput(const ResampleArguments & a)
  {
    const std::int64_t guard = std::int64_t{ 2 } * a.components * a.outputSize[0] * (a.outputSize[1] + 8);
    first = guard;
    count = std::int64_t{ a.components } * a.outputSize[0] * a.cut.rowCount;
    output.assign(static_cast<std::size_t>(count + 2 * guard), Untouched);
  }

  std::int64_t
  CountTouchedOutside() const
  {
    const auto isTouched = [](double value) { return value != Untouched; };
    return std::count_if(output.begin(), output.begin() + first, isTouched) +
           std::count_if(output.begin() + first + count, output.end(), isTouched);
  }
};

/** The order in which a group's lanes, and the groups, run. */
enum class Order
{
  Forwards,
  Backwards
};

int
Nth(int n, int count, Order order)
{
  return order == Order::Forwards ? n : count - 1 - n;
}

/** Runs each lane of each group. beforeLane(number) may prepare the lane's input. */
template <typename TBeforeLane>
void
Launch(const ResampleArguments & a, int lanes, Arrays & arrays, Order order, const TBeforeLane & beforeLane)
{
  const auto          groups = static_cast<int>(CountGroups(&a));
  const int           planeGroups = CountPlaneGroups(&a);
  constexpr double    Nothing = 1e300;
  const std::size_t   columnCount = static_cast<std::size_t>(3 * MaximumRowColumns * (lanes / ResampleRowLanes));
  std::vector<double> columns(columnCount + 64, Nothing);
  std::int64_t        arrived = 0;
  for (int m = 0; m < planeGroups; ++m)
  {
    for (int n = 0; n < groups; ++n)
    {
      running.groupY = Nth(m, planeGroups, order);
      running.group = Nth(n, groups, order);
      const auto runLane = [&](int lane) {
        running.lane = lane;
        beforeLane((std::int64_t{ running.groupY } * groups + running.group) * lanes + lane);
        const double * const input = arrays.input.data();
        double * const       output = arrays.output.data() + arrays.first;
        if (a.chain == ChainFollowsRows)
        {
          ResampleRowsGroup(AnyInterpolation,
                            a.components == 1,
                            &a,
                            input,
                            arrays.parts.data(),
                            arrays.vectors.data(),
                            input,
                            output,
                            columns.data());
        }
        else
        {
          ResampleTileGroup(AnyInterpolation,
                            a.chain,
                            a.components == 1,
                            &a,
                            input,
                            arrays.parts.data(),
                            arrays.vectors.data(),
                            input,
                            output);
        }
      };
      if (a.chain == ChainFollowsRows)
      {
        // All lanes reach the barrier, and columns of the previous group are gone.
        std::fill(columns.begin(), columns.end(), Nothing);
        running.stopsAtBarrier = true;
        for (int lane = 0; lane < lanes; ++lane)
        {
          try
          {
            runLane(Nth(lane, lanes, order));
          }
          catch (const AtBarrier &)
          {
            ++arrived;
          }
        }
        running.stopsAtBarrier = false;
        ASSERT_TRUE(std::none_of(columns.begin(), columns.end(), [](double sum) { return std::isnan(sum); }))
          << "vectors that are not needed are read";
      }
      for (int lane = 0; lane < lanes; ++lane)
      {
        runLane(Nth(lane, lanes, order));
      }
      ASSERT_EQ(std::count(columns.begin() + static_cast<std::ptrdiff_t>(columnCount), columns.end(), Nothing), 64)
        << "columns beyond the group's";
    }
  }
  EXPECT_EQ(arrived, a.chain == ChainFollowsRows ? std::int64_t{ groups } * planeGroups * lanes : 0)
    << "a barrier that not all lanes reach";
}

ResampleArguments
MakeArguments(int width, int height, int firstRow, int rowCount, int chain)
{
  ResampleArguments a{};
  a.outputSize[0] = width;
  a.outputSize[1] = height;
  a.components = 1;
  a.interpolation = ResampleNearest;
  a.extrapolates = 1;
  a.isFirstSlab = 1;
  a.isOnlySlab = 1;
  a.chain = chain;
  a.cut.firstRow = firstRow;
  a.cut.rowCount = rowCount;
  return a;
}

std::string
Describe(const ResampleArguments & a, int lanes)
{
  return "rows of " + std::to_string(a.outputSize[0]) + ", planes of " + std::to_string(a.outputSize[1]) +
         " rows, rows from " + std::to_string(a.cut.firstRow) + " on, " + std::to_string(a.cut.rowCount) +
         " of them, chain " + std::to_string(a.chain) + ", " + std::to_string(lanes) + " lanes";
}

/** Expects each voxel to be made by exactly one lane. The input is one voxel, in which each lane finds its own number. If two lanes make
 *  a voxel, the last one's number remains, which differs if all run in reverse order. */
void
ExpectEachVoxelByOneLane(ResampleArguments a, int lanes)
{
  SCOPED_TRACE(Describe(a, lanes));
  a.inputSize[0] = a.inputSize[1] = a.inputSize[2] = 1;
  CutIntoGroups(&a, lanes);
  ASSERT_LE(CountPlaneGroups(&a), ResampleMostPlaneGroups);
  Arrays arrays;
  arrays.input.resize(static_cast<std::size_t>(a.components));
  if (a.chain == ChainFollowsRows)
  {
    // A grid that moves nothing.
    ChainPart part{};
    part.order = RowSplineOrder;
    part.dimension = 2;
    part.size[0] = part.size[1] = 4;
    part.size[2] = 1;
    arrays.parts.assign(1, part);
    arrays.vectors.resize(16);
  }
  const auto setNumber = [&](std::int64_t number) {
    std::fill(arrays.input.begin(), arrays.input.end(), static_cast<double>(number));
  };
  arrays.SetOutput(a);
  Launch(a, lanes, arrays, Order::Forwards, setNumber);
  const std::vector<double> forwards = arrays.output;
  EXPECT_EQ(arrays.CountTouchedOutside(), 0);
  EXPECT_EQ(std::count(forwards.begin() + arrays.first, forwards.begin() + arrays.first + arrays.count, Untouched), 0)
    << "voxels that no lane makes";
  arrays.SetOutput(a);
  Launch(a, lanes, arrays, Order::Backwards, setNumber);
  EXPECT_TRUE(arrays.output == forwards) << "voxels that several lanes make";
}

const std::vector<int> LaneCounts{ 64, 128, 256 };
const std::vector<int> Chains{ ChainIsAffine, ChainFollowsRows };

void
ExpectEachVoxelByOneLane(int width, int height, int firstRow, int rowCount)
{
  for (const int lanes : LaneCounts)
  {
    for (const int chain : Chains)
    {
      ExpectEachVoxelByOneLane(MakeArguments(width, height, firstRow, rowCount, chain), lanes);
    }
  }
}

i64
DrawFixed(Random & random, double size)
{
  return static_cast<i64>(std::llround(Uniform(random, -size, size) * 4294967296.0));
}

/** Returns a map of rows and planes to positions around an input of a few voxels. */
FixedMap
DrawMap(Random & random, const int * outputSize, int depth, const int * inputSize)
{
  FixedMap map{};
  for (int r = 0; r < 3; ++r)
  {
    map.row[4 * r] = DrawFixed(random, 1.0 * inputSize[r] / outputSize[0]);
    map.row[4 * r + 1] = DrawFixed(random, 1.0 * inputSize[r] / outputSize[1]);
    map.row[4 * r + 2] = DrawFixed(random, 1.0 * inputSize[r] / depth);
    map.row[4 * r + 3] = DrawFixed(random, 0.5 * inputSize[r]) + (i64{ inputSize[r] } << 31);
  }
  return map;
}

/** Adds a grid of vectors of up to a voxel, behind the present ones. */
ChainPart
AddPart(Random & random, Arrays & arrays, int kind, const int * size)
{
  ChainPart part{};
  part.firstVector = static_cast<i64>(arrays.vectors.size());
  part.kind = kind;
  part.order = RowSplineOrder;
  part.dimension = 3;
  std::copy_n(size, 3, part.size);
  for (float & carry : part.carry)
  {
    carry = static_cast<float>(Uniform(random, -1.0, 1.0));
  }
  const auto draw = [&random] { return static_cast<float>(Uniform(random, -1.0, 1.0)); };
  for (int n = 0; n < size[0] * size[1] * size[2]; ++n)
  {
    arrays.vectors.push_back({ draw(), draw(), draw(), 0.0f });
  }
  return part;
}

/** Adds a part whose rows are parallel to the output's, as fine as allowed, and sometimes reversed. */
void
AddRowSpline(Random & random, Arrays & arrays, const int * outputSize, int depth)
{
  const i64 one = i64{ 1 } << 32;
  const i64 step = Chance(random, 2) ? one / RowSplineSpacing : DrawFixed(random, 0.5);
  const i64 length = std::abs(step) * outputSize[0];
  // In some grids the first or the last columns are outside.
  const int size[3] = { std::max(4, static_cast<int>(length / one) + 2 + static_cast<int>(Draw(random, 5))), 5, 6 };
  ChainPart part = AddPart(random, arrays, ChainPartIsSpline, size);
  part.toGrid = DrawMap(random, outputSize, depth, size);
  const bool isBackwards = Chance(random, 2);
  part.toGrid.row[0] = isBackwards ? -std::abs(step) : std::abs(step);
  part.toGrid.row[1] = part.toGrid.row[2] = 0;
  part.toGrid.row[3] = (isBackwards ? length : 0) + DrawFixed(random, 1.0) + one;
  part.toGrid.row[4] = part.toGrid.row[8] = 0;
  arrays.parts.push_back(part);
}

/** Deletes all vectors but those that the launch's rows need, as if only a part of the grid were on the device. */
void
ForgetVectorsOfOtherRows(const ResampleArguments & a, Arrays & arrays)
{
  const ChainPart &   part = arrays.parts[0];
  std::vector<float4> kept(arrays.vectors.size(), MakeFloat4(NAN, NAN, NAN, NAN));
  for (int row = a.cut.firstRow; row < a.cut.firstRow + a.cut.rowCount; ++row)
  {
    int    cell[3], first[3];
    double fraction[3], wy[RowSplineOrder + 1], wz[RowSplineOrder + 1];
    for (int r = 1; r < 3; ++r)
    {
      const i64 position = ApplyFixedRow(&part.toGrid, r, 0, row % a.outputSize[1], row / a.outputSize[1]);
      cell[r] = IntegerPart(position);
      ComputeFraction(position, fraction + r);
    }
    if (LocateControlPointColumns(RowSplineOrder, &part, cell, fraction, first, wy, wz))
    {
      for (int line = 0; line < (RowSplineOrder + 1) * (RowSplineOrder + 1); ++line)
      {
        const i64 begin =
          VectorOffset(&part, 0, first[1] + line % (RowSplineOrder + 1), first[2] + line / (RowSplineOrder + 1));
        std::copy_n(arrays.vectors.begin() + begin, part.size[0], kept.begin() + begin);
      }
    }
  }
  arrays.vectors = kept;
}

/** Resamples by the definition: one voxel at a time, from its own indices. */
void
ResamplePlainly(const ResampleArguments & a, const Arrays & arrays, double * out)
{
  for (int row = a.cut.firstRow; row < a.cut.firstRow + a.cut.rowCount; ++row)
  {
    for (int x = 0; x < a.outputSize[0]; ++x, out += a.components)
    {
      const int y = row % a.outputSize[1];
      const int z = row / a.outputSize[1];
      i64       position[3];
      double    d[3] = { 0, 0, 0 };
      DisplaceByChain(a.partCount, arrays.parts.data(), arrays.vectors.data(), x, y, z, d);
      ComputeInputPosition(&a, x, y, z, position);
      ResampleMoved(a.interpolation,
                    a.components,
                    &a,
                    arrays.input.data(),
                    arrays.input.data(),
                    position,
                    a.chain != ChainIsAffine ? d : nullptr,
                    out);
    }
  }
}

void
ExpectWhatPlainLoopsMake(ResampleArguments a, int lanes, int depth, Random & random)
{
  SCOPED_TRACE(Describe(a, lanes));
  Arrays arrays;
  a.interpolation = ResampleLinear;
  a.inputSize[0] = 7;
  a.inputSize[1] = 5;
  a.inputSize[2] = 6;
  a.toInput = DrawMap(random, a.outputSize, depth, a.inputSize);
  a.components = Chance(random, 3) ? 2 : 1;
  for (int n = 0; n < 7 * 5 * 6 * a.components; ++n)
  {
    arrays.input.push_back(Uniform(random, 0.0, 1.0));
  }
  if (a.chain == ChainFollowsRows)
  {
    AddRowSpline(random, arrays, a.outputSize, depth);
    ASSERT_TRUE(FollowsRows(&arrays.parts[0]));
    ForgetVectorsOfOtherRows(a, arrays);
  }
  else if (a.chain == ChainHasParts)
  {
    const int size[3] = { 6, 5, 7 };
    for (const int kind : { static_cast<int>(ChainPartIsSpline), static_cast<int>(ChainPartIsField) })
    {
      ChainPart part = AddPart(random, arrays, kind, size);
      part.toGrid = DrawMap(random, a.outputSize, depth, size);
      arrays.parts.push_back(part);
    }
  }
  a.partCount = static_cast<int>(arrays.parts.size());
  CutIntoGroups(&a, lanes);
  arrays.SetOutput(a);
  Launch(a, lanes, arrays, Order::Forwards, [](std::int64_t) {});
  EXPECT_EQ(arrays.CountTouchedOutside(), 0);

  std::vector<double> expected(static_cast<std::size_t>(arrays.count), Untouched);
  ResamplePlainly(a, arrays, expected.data());
  std::int64_t differing = 0;
  for (std::size_t n = 0; n < expected.size(); ++n)
  {
    // Sums of values up to 1, and of displacements up to some voxels, in doubles.
    differing += !(std::abs(expected[n] - arrays.output[static_cast<std::size_t>(arrays.first) + n]) <= 1e-12);
  }
  EXPECT_EQ(differing, 0) << "of " << expected.size();
}
} // namespace

TEST(ResampleCutTest, EachVoxelOfWholeVolumesByOneLane)
{
  const int sizes[][3] = { { 1, 1, 1 },    { 1, 1, 7 },    { 1, 9, 1 },    { 5, 1, 1 },     { 16, 4, 8 },
                           { 17, 5, 9 },   { 15, 3, 7 },   { 33, 31, 1 },  { 257, 33, 1 },  { 256, 32, 2 },
                           { 255, 2, 17 }, { 3, 129, 3 },  { 31, 16, 16 }, { 100, 1, 100 }, { 5000, 1, 1 },
                           { 4099, 3, 2 }, { 1, 1000, 1 }, { 2, 1, 700 } };
  for (const auto & size : sizes)
  {
    ExpectEachVoxelByOneLane(size[0], size[1], 0, size[1] * size[2]);
  }
}

TEST(ResampleCutTest, EachVoxelOfSomeRowsByOneLane)
{
  // Planes of 7 rows: launches within one, from one to the next, over several; and planes of 70 rows, more than a group's.
  for (const int first : { 0, 1, 6, 7, 13, 20 })
  {
    for (const int count : { 1, 2, 6, 7, 8, 14, 15, 22, 99 })
    {
      ExpectEachVoxelByOneLane(19, 7, first, count);
    }
  }
  for (const int first : { 0, 3, 69, 71, 139 })
  {
    for (const int count : { 1, 5, 64, 70, 71, 150, 700 })
    {
      ExpectEachVoxelByOneLane(3, 70, first, count);
    }
  }
}

TEST(ResampleCutTest, EachVoxelOfMorePlanesThanGroupsCount)
{
  const int most = ResampleMostPlaneGroups * ResampleLaneSteps;
  for (const int planes : { most - 1, most, most + 1, 2 * most + 5 })
  {
    ExpectEachVoxelByOneLane(MakeArguments(1, 1, 0, planes, ChainIsAffine), 64);
  }
  // Rows that begin and end within a plane.
  ExpectEachVoxelByOneLane(MakeArguments(2, 3, 4, 3 * (most + 9) - 1, ChainIsAffine), 64);
  ExpectEachVoxelByOneLane(MakeArguments(2, 1, 1000000, most + 1, ChainIsAffine), 256);
}

TEST(ResampleCutTest, RandomLaunches)
{
  const std::vector<int> lengths{ 1, 1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 64, 65, 130 };
  const auto             drawLength = [&lengths](Random & random) {
    return lengths[Draw(random, static_cast<unsigned int>(lengths.size()))];
  };
  ForEachSeed(1729, 600, [&](std::uint64_t seed) {
    Random    random(seed);
    int       width = drawLength(random);
    const int height = drawLength(random);
    const int depth = std::min(drawLength(random), 1 + 8192 / height);
    width = Chance(random, 8) ? 300 + static_cast<int>(Draw(random, 1000)) : width;
    const int rows = height * depth;
    const int mostRows = std::clamp(20000 / width, 1, rows);
    const int first = Chance(random, 3) ? 0 : static_cast<int>(Draw(random, static_cast<unsigned int>(rows)));
    const int count = 1 + static_cast<int>(Draw(random, static_cast<unsigned int>(std::min(mostRows, rows - first))));
    const int lanes = LaneCounts[Draw(random, 3)];
    const int chain = static_cast<int>(Draw(random, 3));
    const ResampleArguments a = MakeArguments(width, height, first, count, chain);
    ExpectEachVoxelByOneLane(a, lanes);
    ExpectWhatPlainLoopsMake(a, lanes, depth, random);
  });
}

/** Launches that are too large to run lane by lane. */
TEST(ResampleCutTest, AsManyRowsAsThereMayBe)
{
  const int most = ResampleMostRows;
  // Rows of a plane, planes: in some cases a lane's voxels span more rows than 32 bits count.
  const int shapes[][2] = { { 1, most },      { 1, most / 2 }, { 65536, 16384 }, { 16384, 65536 },
                            { 32767, 32769 }, { most, 1 },     { 1 << 28, 3 },   { most / 2, 2 } };
  for (const auto & shape : shapes)
  {
    const int height = shape[0];
    const int planes = shape[1];
    for (const int lanes : LaneCounts)
    {
      ResampleArguments a = MakeArguments(1, height, 0, height * planes, ChainIsAffine);
      SCOPED_TRACE(Describe(a, lanes));
      CutIntoGroups(&a, lanes);
      const i64 planeGroups = CountPlaneGroups(&a);
      EXPECT_LE(planeGroups, ResampleMostPlaneGroups);
      if (planes > 1)
      {
        EXPECT_GE(planeGroups * a.cut.steps, planes);
        EXPECT_LT((planeGroups - 1) * a.cut.steps, planes) << "the last group has no plane";
      }
      EXPECT_EQ(a.cut.laneRows, std::min<i64>(most, i64{ a.cut.steps } * a.cut.rowStep));
      EXPECT_LE(i64{ most } + a.cut.rowStep, std::numeric_limits<int>::max()) << "a step behind the last row";
      const i64 rowsOfGroup = planes > 1 ? lanes / ResampleTileLanes : i64{ lanes / ResampleTileLanes } * a.cut.steps;
      EXPECT_EQ(CountGroups(&a), (height + rowsOfGroup - 1) / rowsOfGroup);
    }
  }
}

TEST(ResampleCutTest, GroupsOfSmallLaunchesAreAsCounted)
{
  const auto count = [](int width, int height, int firstRow, int rowCount, int chain, int lanes) {
    ResampleArguments a = MakeArguments(width, height, firstRow, rowCount, chain);
    CutIntoGroups(&a, lanes);
    return std::make_pair(CountGroups(&a), CountPlaneGroups(&a));
  };
  using Counts = std::pair<i64, int>;
  // 64 lanes are 16 x 4, and make 8 planes.
  EXPECT_EQ(count(16, 4, 0, 32, ChainIsAffine, 64), Counts(1, 1));
  EXPECT_EQ(count(17, 5, 0, 45, ChainHasParts, 64), Counts(4, 2));
  // For a single plane, 64 lanes make 32 rows.
  EXPECT_EQ(count(16, 100, 10, 32, ChainIsAffine, 64), Counts(1, 1));
  EXPECT_EQ(count(16, 100, 10, 33, ChainIsAffine, 64), Counts(2, 1));
  // 256 lanes that follow rows are 8 rows of 256 voxels each, for any number of planes.
  EXPECT_EQ(count(256, 5, 3, 8, ChainFollowsRows, 256), Counts(1, 1));
  EXPECT_EQ(count(257, 5, 3, 9, ChainFollowsRows, 256), Counts(4, 1));
}

/** Also at the ends of a spline's valid region, where a position belongs to the cell before it. */
TEST(ResampleCutTest, TheColumnsOfARowAreThoseThatItsVoxelsRead)
{
  // An eighth of a control point's spacing, so that voxels lie exactly on the ends.
  constexpr i64 eighth = i64{ 1 } << 29;
  int           read = 0;
  int           onTheEnd = 0;
  const auto    expectColumns = [&](const ChainPart & part, int width) {
    int       firstColumn = 0;
    const int columnCount = LocateColumnsOfRow(&part, 0, width - 1, 0, 0, &firstColumn);
    ASSERT_TRUE(!FollowsRows(&part) || columnCount <= MaximumRowColumns);
    for (int x = 0; x < width; ++x)
    {
      const i64 position = ApplyFixedRow(&part.toGrid, 0, x, 0, 0);
      double    fraction = 0;
      double    t = 0;
      int       first = 0;
      ComputeFraction(position, &fraction);
      if (LocateControlPoints(RowSplineOrder, &part, 0, IntegerPart(position), fraction, &first, &t))
      {
        ++read;
        onTheEnd += t == 1.0;
        ASSERT_GE(first, firstColumn) << "x " << x;
        ASSERT_LT(first + RowSplineOrder, firstColumn + columnCount) << "x " << x;
        ASSERT_LT(first + RowSplineOrder, part.size[0]) << "x " << x;
      }
    }
  };
  for (const int size : { 4, 5, 9 })
  {
    for (const int step : { -16, -8, -7, -4, -3, -1, 1, 3, 4, 7, 8, 16 })
    {
      for (int offset = -30; offset < 8 * size + 30; ++offset)
      {
        // Some voxel lies on an end, or as far from it as rounding may move it, or just beyond that.
        for (const int nudge : { 0, -8, 8, 9 })
        {
          for (const int width : { 1, 2, 33, ResampleRowLanes * ResampleLaneSteps })
          {
            ChainPart part{};
            part.order = RowSplineOrder;
            part.isOpen = offset & 1;
            part.slack = 8;
            part.size[0] = size;
            part.toGrid.row[0] = step * eighth;
            part.toGrid.row[3] = offset * eighth + nudge;
            SCOPED_TRACE(std::to_string(size) + " control points, from " + std::to_string(offset) + " in steps of " +
                         std::to_string(step) + " eighths and " + std::to_string(nudge) + ", " + std::to_string(width) +
                         " voxels");
            expectColumns(part, width);
          }
        }
      }
    }
  }
  EXPECT_GT(read, 10000);
  EXPECT_GT(onTheEnd, 500);
}

TEST(ResampleCutTest, VectorsBeyondTwoToThe31)
{
  ChainPart part{};
  part.firstVector = i64{ 5 } << 32;
  part.size[0] = 2000;
  part.size[1] = 2000;
  part.size[2] = 2000;
  EXPECT_EQ(VectorOffset(&part, 1999, 1999, 1999), part.firstVector + 7999999999);
  EXPECT_EQ(VectorOffset(&part, 7, 3, 0), part.firstVector + 6007);
}

TEST(ResampleCutTest, PositionStepIsFromALanesVoxelToItsNext)
{
  ForEachSeed(1, 100, [&](std::uint64_t seed) {
    Random     random(seed);
    const auto draw = [&random](unsigned int most) { return 1 + static_cast<int>(Draw(random, most)); };
    const int  height = draw(100);
    // Launches of one plane, or of several.
    ResampleArguments a =
      MakeArguments(draw(100), height, 0, Chance(random, 2) ? height : height * draw(20), ChainIsAffine);
    for (i64 & element : a.toInput.row)
    {
      element = DrawFixed(random, 1000.0);
    }
    CutIntoGroups(&a, LaneCounts[Draw(random, 3)]);
    EXPECT_EQ(a.cut.rowStep, a.cut.stepZ * height + a.cut.stepY);
    EXPECT_GT(a.cut.rowStep, 0);
    i64       here[3], next[3];
    const int x = draw(100), y = draw(100), z = draw(100);
    ComputeInputPosition(&a, x, y, z, here);
    ComputeInputPosition(&a, x, y + a.cut.stepY, z + a.cut.stepZ, next);
    for (int r = 0; r < 3; ++r)
    {
      EXPECT_EQ(a.cut.positionStep[r], next[r] - here[r]) << "axis " << r;
    }
  });
}

} // namespace gpuregtest
