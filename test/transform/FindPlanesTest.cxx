// SPDX-License-Identifier: Apache-2.0
// Compares FindPlanes, which computes the planes of an input or a grid that must be on the device, with each voxel's own position.
#include "engine/transform/FindPlanes.h"

#include "RandomGrid.h"
#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace gpureg
{

bool
operator==(const PlaneRange & a, const PlaneRange & b)
{
  return a.first == b.first && a.end == b.end;
}

std::ostream &
operator<<(std::ostream & out, const PlaneRange & range)
{
  return out << range.first << " … " << range.end - 1;
}

} // namespace gpureg

namespace gpuregtest
{

namespace
{
using gpureg::FindPlanes;
using gpureg::PlaneRange;
using gpureg::RowRange;
using gpureg::Size;
using gpureg::kernels::FixedMap;
using gpureg::kernels::i64;

constexpr i64 One = i64{ 1 } << 32;

/** Returns a map whose position along the last axis depends on z only. */
FixedMap
MakeMapOfZ(i64 step, i64 offset)
{
  FixedMap map{};
  map.row[0] = map.row[5] = One;
  map.row[10] = step;
  map.row[11] = offset;
  return map;
}

PlaneRange
FindPlanesOfZ(i64 step, i64 offset, const RowRange & rows, double reach = 0, int margin = 0)
{
  return FindPlanes(MakeMapOfZ(step, offset), 2, { 3, 4, 10 }, rows, reach, margin, 10);
}

struct Case
{
  FixedMap map{};
  int      axis = 2;
  Size     size{ 1, 1, 1 };
  RowRange rows;
  double   reach = 0;
  int      margin = 0;
  int      planes = 1;

  PlaneRange
  Find() const
  {
    return FindPlanes(map, axis, size, rows, reach, margin, planes);
  }
};

/** Calls work with the position along the axis of each of the rows' voxels; or of all voxels of their planes, if there are several
 *  planes. */
template <typename TWork>
void
ForEachPosition(const Case & c, const TWork & work)
{
  const std::int64_t last = c.rows.first + c.rows.count - 1;
  const int          firstZ = static_cast<int>(c.rows.first / c.size[1]);
  const int          lastZ = static_cast<int>(last / c.size[1]);
  const int          firstY = firstZ == lastZ ? static_cast<int>(c.rows.first % c.size[1]) : 0;
  const int          lastY = firstZ == lastZ ? static_cast<int>(last % c.size[1]) : c.size[1] - 1;
  for (int z = firstZ; z <= lastZ; ++z)
  {
    for (int y = firstY; y <= lastY; ++y)
    {
      for (int x = 0; x < c.size[0]; ++x)
      {
        work(gpureg::kernels::ApplyFixedRow(&c.map, c.axis, x, y, z));
      }
    }
  }
}

/** Returns the planes by definition: the cells of all positions, and those around them; the cell before the first plane counts as that
 *  plane's. */
PlaneRange
FindPlanesByDefinition(const Case & c)
{
  std::int64_t low = std::numeric_limits<int>::max();
  std::int64_t high = std::numeric_limits<int>::min();
  ForEachPosition(c, [&](i64 position) {
    low = std::min<std::int64_t>(low, gpureg::kernels::IntegerPart(position));
    high = std::max<std::int64_t>(high, gpureg::kernels::IntegerPart(position));
  });
  const auto more = c.margin + static_cast<std::int64_t>(std::ceil(c.reach));
  low -= more;
  high += more;
  high = high == -1 ? 0 : high;
  return { static_cast<int>(std::clamp<std::int64_t>(low, 0, c.planes)),
           static_cast<int>(std::clamp<std::int64_t>(high + 1, 0, c.planes)) };
}

/** Draws positions around the planes, in steps of about a voxel; or far away from the first plane. */
Case
DrawCase(Random & random, double farthest)
{
  const auto fixed = [&random](double size) {
    return static_cast<i64>(std::llround(Uniform(random, -size, size) * One));
  };
  const auto draw = [&random](unsigned int most) { return 1 + static_cast<int>(Draw(random, most)); };
  Case       c;
  c.size = { draw(9), draw(8), draw(7) };
  c.axis = static_cast<int>(Draw(random, 3));
  c.planes = draw(30);
  const double step = Chance(random, 4) ? 8.0 : 1.0;
  for (int r = 0; r < 3; ++r)
  {
    for (int k = 0; k < 3; ++k)
    {
      c.map.row[4 * r + k] = Chance(random, 3) ? 0 : fixed(step);
    }
    c.map.row[4 * r + 3] = fixed(20.0) + (c.planes / 2) * One;
  }
  if (Chance(random, 3))
  {
    // Integer positions only.
    for (i64 & element : c.map.row)
    {
      element = element / One * One;
    }
  }
  if (farthest > 0)
  {
    const int far = draw(static_cast<unsigned int>(farthest));
    c.map.row[4 * c.axis + 3] += far * One;
    c.planes += far;
  }
  const int rows = c.size[1] * c.size[2];
  c.rows.first = static_cast<int>(Draw(random, static_cast<unsigned int>(rows)));
  c.rows.count = draw(static_cast<unsigned int>(rows - c.rows.first));
  c.margin = static_cast<int>(Draw(random, 4));
  c.reach = Chance(random, 2)   ? 0.0
            : Chance(random, 4) ? std::floor(Uniform(random, 0.0, 6.0))
                                : Uniform(random, 0.0, 6.0);
  return c;
}
} // namespace

TEST(FindPlanesTest, APlaneOfTheSameGridIsOnePlane)
{
  for (int z = 0; z < 10; ++z)
  {
    EXPECT_EQ(FindPlanesOfZ(One, 0, { 4 * z, 4 }), (PlaneRange{ z, z + 1 }));
    EXPECT_EQ(FindPlanesOfZ(One, 0, { 4 * z + 2, 1 }), (PlaneRange{ z, z + 1 }));
    EXPECT_EQ(FindPlanesOfZ(-One, 9 * One, { 4 * z, 4 }), (PlaneRange{ 9 - z, 10 - z }));
  }
  EXPECT_EQ(FindPlanesOfZ(One, 0, { 7, 2 }), (PlaneRange{ 1, 3 }));
  EXPECT_EQ(FindPlanesOfZ(One, 0, { 0, 40 }), (PlaneRange{ 0, 10 }));
  EXPECT_EQ(FindPlanesOfZ(-One, 9 * One, { 0, 8 }), (PlaneRange{ 8, 10 }));
}

TEST(FindPlanesTest, ReachAndMarginAreOnBothSides)
{
  const RowRange plane5{ 20, 4 };
  EXPECT_EQ(FindPlanesOfZ(One, 0, plane5, 0, 1), (PlaneRange{ 4, 7 }));
  EXPECT_EQ(FindPlanesOfZ(One, 0, plane5, 1, 0), (PlaneRange{ 4, 7 }));
  EXPECT_EQ(FindPlanesOfZ(One, 0, plane5, 1.01, 0), (PlaneRange{ 3, 8 }));
  EXPECT_EQ(FindPlanesOfZ(One, 0, plane5, 0.01, 2), (PlaneRange{ 2, 9 }));
  EXPECT_EQ(FindPlanesOfZ(One, 0, plane5, 100, 0), (PlaneRange{ 0, 10 }));
}

TEST(FindPlanesTest, AtTheEndsTheLastBitDecides)
{
  const RowRange first{ 0, 4 };
  EXPECT_EQ(FindPlanesOfZ(0, 10 * One - 1, first), (PlaneRange{ 9, 10 }));
  EXPECT_EQ(FindPlanesOfZ(0, 10 * One, first).GetCount(), 0);
  EXPECT_EQ(FindPlanesOfZ(0, 10 * One, first, 0, 1), (PlaneRange{ 9, 10 }));
  EXPECT_EQ(FindPlanesOfZ(0, 5 * One - 1, first), (PlaneRange{ 4, 5 }));
  EXPECT_EQ(FindPlanesOfZ(0, 5 * One, first), (PlaneRange{ 5, 6 }));
  // Half a voxel before the first plane is still inside of an image.
  EXPECT_EQ(FindPlanesOfZ(0, -1, first), (PlaneRange{ 0, 1 }));
  EXPECT_EQ(FindPlanesOfZ(0, -One, first), (PlaneRange{ 0, 1 }));
  EXPECT_EQ(FindPlanesOfZ(0, -One - 1, first).GetCount(), 0);
  EXPECT_EQ(FindPlanesOfZ(0, -One - 1, first, 0, 1), (PlaneRange{ 0, 1 }));
}

TEST(FindPlanesTest, ReachOfNoBoundIsOfAllPlanes)
{
  for (const double reach :
       { std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e30, 2e6 })
  {
    EXPECT_EQ(FindPlanesOfZ(One, 0, { 0, 4 }, reach, 1), (PlaneRange{ 0, 10 })) << reach;
  }
}

TEST(FindPlanesTest, RandomMapsAreFoundAsByDefinition)
{
  std::uint64_t       met = 0, cut = 0;
  const std::uint64_t count = ForEachSeed(1, 5000, [&](std::uint64_t seed) {
    Random           random(seed);
    const Case       c = DrawCase(random, 0);
    const PlaneRange found = c.Find();
    const PlaneRange expected = FindPlanesByDefinition(c);
    EXPECT_EQ(std::max(found.GetCount(), 0), std::max(expected.GetCount(), 0));
    if (expected.GetCount() > 0)
    {
      EXPECT_EQ(found, expected);
      ++met;
      cut += expected.GetCount() < c.planes;
    }
  });
  if (count >= 100)
  {
    EXPECT_GE(3 * met, count) << "most of the drawn cases meet no plane";
    EXPECT_GE(4 * cut, count) << "most of the drawn cases meet all planes, or none";
  }
}

TEST(FindPlanesTest, WhereDisplacementsLeadIsFound)
{
  ForEachSeed(10000, 1000, [&](std::uint64_t seed) {
    Random           random(seed);
    const Case       c = DrawCase(random, 0);
    const PlaneRange found = c.Find();
    std::int64_t     missed = 0;
    ForEachPosition(c, [&](i64 position) {
      const double at = static_cast<double>(position) / One;
      for (const double displacement : { -c.reach, Uniform(random, -1.0, 1.0) * c.reach, c.reach })
      {
        for (const int more : { -c.margin, c.margin })
        {
          const double cell = std::floor(at + displacement) + more;
          const double plane = cell == -1 ? 0 : cell;
          missed += plane >= 0 && plane < c.planes && (plane < found.first || plane >= found.end);
        }
      }
    });
    EXPECT_EQ(missed, 0) << "positions whose planes are not found";
  });
}

/** The position's last bit, which a double does not hold, decides between two planes. */
TEST(FindPlanesTest, FarAwayThePlaneBeforeIsFoundToo)
{
  const int        far = 1 << 30;
  const FixedMap   map = MakeMapOfZ(0, far * One - 1);
  const PlaneRange found = FindPlanes(map, 2, { 1, 1, 1 }, { 0, 1 }, 0, 0, far + 10);
  EXPECT_LE(found.first, far - 1);
  EXPECT_GE(found.first, far - 2);
  EXPECT_GE(found.end, far);
  EXPECT_LE(found.end, far + 2);
}

/** For numbers that exceed doubles' precision, one more plane is included on either side. */
TEST(FindPlanesTest, FarAwayNothingIsMissed)
{
  ForEachSeed(20000, 1000, [&](std::uint64_t seed) {
    Random           random(seed);
    const Case       c = DrawCase(random, 1e9);
    const PlaneRange found = c.Find();
    const PlaneRange expected = FindPlanesByDefinition(c);
    if (expected.GetCount() > 0)
    {
      EXPECT_LE(found.first, expected.first);
      EXPECT_GE(found.first, expected.first - 1);
      EXPECT_GE(found.end, expected.end);
      EXPECT_LE(found.end, expected.end + 1);
    }
    else
    {
      EXPECT_LE(found.GetCount(), 1);
    }
  });
}

} // namespace gpuregtest
