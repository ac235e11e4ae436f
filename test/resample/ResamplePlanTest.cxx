// SPDX-License-Identifier: Apache-2.0
// Tests the division of a resampling into slabs and tiles within a memory limit: properties of any plan, and small plans that can be
// counted by hand.
#include "engine/resample/ResamplePlan.h"

#include "RandomGrid.h"
#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::AvailableMemory;
using gpureg::GetLeastBytes;
using gpureg::LoadedSlabs;
using gpureg::PlaneRange;
using gpureg::PlanResampling;
using gpureg::ResamplePlan;
using gpureg::ResampleSizes;
using gpureg::RowRange;
using gpureg::SlabCut;

constexpr std::size_t Unbounded = std::numeric_limits<std::size_t>::max();

bool
IsIn(int plane, const PlaneRange & range)
{
  return plane >= range.first && plane < range.end;
}

/** Expects slabs to own each plane exactly once, in order, and to contain the planes around those. */
void
ExpectSlabsCover(const SlabCut & cut)
{
  ASSERT_GE(cut.owned, 1);
  ASSERT_GE(cut.GetCount(), 1);
  int next = 0;
  for (int slab = 0; slab < cut.GetCount(); ++slab)
  {
    const PlaneRange owned = cut.GetOwned(slab);
    const PlaneRange held = cut.GetHeld(slab);
    EXPECT_EQ(owned.first, next);
    EXPECT_GE(owned.GetCount(), 1);
    EXPECT_LE(owned.GetCount(), cut.owned);
    EXPECT_EQ(held.first, std::max(0, owned.first - cut.margin));
    EXPECT_EQ(held.end, std::min(cut.planes, owned.end + cut.margin));
    next = owned.end;
  }
  EXPECT_EQ(next, cut.planes);
}

/** Tests all ranges of planes. */
void
ExpectSlabsFound(const SlabCut & cut)
{
  for (int first = 0; first <= cut.planes; ++first)
  {
    for (int end = 0; end <= cut.planes; ++end)
    {
      const PlaneRange found = cut.FindSlabs({ first, end });
      for (int slab = 0; slab < cut.GetCount(); ++slab)
      {
        const PlaneRange owned = cut.GetOwned(slab);
        const bool       ownsSome = std::max(first, owned.first) < std::min(end, owned.end);
        ASSERT_EQ(IsIn(slab, found), ownsSome) << "slab " << slab << " of planes " << first << " … " << end - 1;
      }
      if (first >= end)
      {
        ASSERT_EQ(found.GetCount(), 0);
      }
    }
  }
}

int
CountMostHeld(const SlabCut & cut)
{
  int most = 0;
  for (int slab = 0; slab < cut.GetCount(); ++slab)
  {
    most = std::max(most, cut.GetHeld(slab).GetCount());
  }
  return most;
}

std::size_t
GetWholeBytes(const ResampleSizes & s)
{
  return static_cast<std::size_t>(s.input.planes) * s.planeBytes;
}

/** The sizes that a plan's arrays must have, for each input slab and each output tile. */
struct Needs
{
  std::size_t slab;
  std::size_t tile;
  std::size_t vectors;
  std::size_t all; // with a single slab, and a single tile
};

Needs
GetNeeds(const ResampleSizes & s, int heldPlanes, std::size_t leastSlab, std::int64_t rows, int gridPlanes)
{
  Needs needs;
  needs.slab = std::max(leastSlab, static_cast<std::size_t>(heldPlanes) * s.planeBytes);
  needs.tile = static_cast<std::size_t>(rows) * s.rowBytes;
  needs.vectors = static_cast<std::size_t>(gridPlanes) * s.gridPlaneBytes + s.otherVectorBytes;
  needs.all = needs.slab + needs.tile + needs.vectors + s.stateBytes + s.otherBytes;
  return needs;
}

/** Returns the needs of one plane and one row at a time; or of all planes, if that is less. */
Needs
GetLeastNeeds(const ResampleSizes & s)
{
  const int   gridPlanes = s.countGridPlanes(1);
  const Needs cut = GetNeeds(s, std::min(s.input.planes, 1 + 2 * s.input.margin), s.leastSlabBytes, 1, gridPlanes);
  const Needs whole = GetNeeds(s, s.input.planes, 0, 1, gridPlanes);
  return whole.slab < cut.slab ? whole : cut;
}

bool
FitsInto(const Needs & needs, const AvailableMemory & memory)
{
  return needs.all <= memory.free && std::max({ needs.slab, needs.tile, needs.vectors }) <= memory.largestAllocation;
}

/** Expects a plan for these sizes to be consistent and to fit. */
void
ExpectSound(const ResampleSizes & s, const ResamplePlan & plan, const AvailableMemory & memory)
{
  EXPECT_EQ(plan.slabs.axis, s.input.axis);
  EXPECT_EQ(plan.slabs.planes, s.input.planes);
  EXPECT_EQ(plan.slabs.margin, s.input.margin);
  ExpectSlabsCover(plan.slabs);

  // Tiles of tileRows rows, of which the last one may have fewer, cover all rows.
  EXPECT_GE(plan.tileRows, 1);
  EXPECT_LE(plan.tileRows, s.rows);
  EXPECT_TRUE(plan.tileRows < s.rowsOfPlane || plan.tileRows % s.rowsOfPlane == 0) << "planes and a part of one";
  EXPECT_TRUE(plan.outputBuffers == 1 || plan.outputBuffers == s.mostBuffers) << plan.outputBuffers;
  EXPECT_TRUE(plan.outputBuffers == 1 || plan.tileRows < s.rows) << "two buffers for one tile";
  EXPECT_TRUE(plan.inputBuffers == 1 || plan.inputBuffers == s.mostBuffers) << plan.inputBuffers;
  EXPECT_TRUE(plan.inputBuffers == 1 || plan.slabs.GetCount() > 1) << "two buffers for one slab";

  EXPECT_GE(plan.gridPlanes, s.countGridPlanes(plan.tileRows));
  EXPECT_LE(plan.gridPlanes, s.gridPlanes);
  EXPECT_EQ(plan.stateBytes, s.stateBytes);

  const bool  isCut = plan.slabs.GetCount() > 1;
  const Needs needs =
    GetNeeds(s, CountMostHeld(plan.slabs), isCut ? s.leastSlabBytes : 0, plan.tileRows, plan.gridPlanes);
  EXPECT_GE(plan.inputBytes, needs.slab);
  EXPECT_EQ(plan.tileBytes, needs.tile);
  EXPECT_EQ(plan.gridBytes + s.otherVectorBytes, needs.vectors);
  EXPECT_TRUE(FitsInto(needs, memory));
  EXPECT_LE(plan.inputBuffers * plan.inputBytes + plan.outputBuffers * plan.tileBytes + plan.gridBytes +
              s.otherVectorBytes + plan.stateBytes + s.otherBytes,
            memory.free);
}

/** Returns the sizes of an input of planes of 100 bytes, with one plane on either side of those that a slab owns; an output of rows of
 *  10 bytes, each of which needs one plane of the input; and 5 bytes of other data. */
ResampleSizes
MakeSizes(int planes, int rows)
{
  ResampleSizes s;
  s.input.planes = s.input.owned = planes;
  s.input.margin = 1;
  s.planeBytes = 100;
  s.rows = rows;
  s.rowBytes = 10;
  s.otherBytes = 5;
  s.mostTileBytes = 50;
  s.findPlanes = [planes, rows](const RowRange & range) {
    return PlaneRange{ static_cast<int>(range.first * planes / rows),
                       static_cast<int>((range.first + range.count - 1) * planes / rows) + 1 };
  };
  s.countGridPlanes = [](std::int64_t) { return 0; };
  return s;
}

ResampleSizes
DrawSizes(Random & random)
{
  const auto    draw = [&random](unsigned int most) { return 1 + static_cast<int>(Draw(random, most)); };
  ResampleSizes s;
  s.input.axis = 1 + static_cast<int>(Draw(random, 2));
  s.input.planes = Chance(random, 8) ? 1 : draw(Chance(random, 4) ? 400 : 40);
  s.input.owned = s.input.planes;
  s.input.margin = draw(3);
  s.planeBytes = Chance(random, 8) ? 0 : static_cast<std::size_t>(draw(Chance(random, 2) ? 20 : 20000));
  s.leastSlabBytes = Chance(random, 2) ? 0 : static_cast<std::size_t>(draw(20000));
  s.mostBuffers = Chance(random, 3) ? 1 : 2;
  s.rowsOfPlane = draw(30);
  s.rows = s.rowsOfPlane * draw(30);
  s.rowBytes = static_cast<std::size_t>(draw(Chance(random, 2) ? 20 : 5000));
  s.mostTileBytes = static_cast<std::size_t>(draw(1000000));
  // An output tile needs about as many planes as it has rows, in either direction.
  const std::int64_t rows = s.rows;
  const int          planes = s.input.planes;
  const int          more = Chance(random, 3) ? planes : static_cast<int>(Draw(random, 4));
  const bool         isBackwards = Chance(random, 2);
  const int          shift = Chance(random, 4) ? planes / 2 : 0;
  s.findPlanes = [=](const RowRange & range) {
    const auto first = static_cast<int>(range.first * planes / rows);
    const auto last = static_cast<int>((range.first + range.count - 1) * planes / rows);
    return PlaneRange{ std::clamp((isBackwards ? planes - 1 - last : first) - more + shift, 0, planes),
                       std::clamp((isBackwards ? planes - 1 - first : last) + more + shift + 1, 0, planes) };
  };
  if (Chance(random, 2))
  {
    const int gridPlanes = 4 + draw(30);
    s.gridPlanes = gridPlanes;
    s.gridPlaneBytes = static_cast<std::size_t>(draw(Chance(random, 2) ? 20 : 20000));
    s.otherVectorBytes = Chance(random, 2) ? 0 : static_cast<std::size_t>(draw(20000));
  }
  s.countGridPlanes = [=, gridPlanes = s.gridPlanes](std::int64_t count) {
    return static_cast<int>(std::min<std::int64_t>(gridPlanes, count * gridPlanes / rows + 4));
  };
  s.stateBytes = Chance(random, 2) ? 0 : static_cast<std::size_t>(draw(5000));
  s.otherBytes = static_cast<std::size_t>(draw(300));
  return s;
}

/** Returns more bytes than any plan needs. */
std::size_t
GetAmpleBytes(const ResampleSizes & s)
{
  return GetNeeds(s, s.input.planes, s.leastSlabBytes, 2 * s.rows, s.gridPlanes).all;
}

/** Calls work(sizes, random) for each seed. */
template <typename TWork>
void
ForEachDrawn(std::uint64_t first, std::uint64_t count, const TWork & work)
{
  ForEachSeed(first, count, [&](std::uint64_t seed) {
    Random              random(seed);
    const ResampleSizes sizes = DrawSizes(random);
    work(sizes, random);
  });
}
} // namespace

TEST(SlabCutTest, SlabsCoverAllPlanes)
{
  for (int planes = 1; planes <= 17; ++planes)
  {
    for (int owned = 1; owned <= planes; ++owned)
    {
      for (int margin = 0; margin <= 4; ++margin)
      {
        SCOPED_TRACE(std::to_string(planes) + " planes, " + std::to_string(owned) + " to a slab, margin " +
                     std::to_string(margin));
        const SlabCut cut{ 2, planes, owned, margin };
        ExpectSlabsCover(cut);
        ExpectSlabsFound(cut);
      }
    }
  }
}

TEST(SlabCutTest, TenPlanesInSlabsOfFour)
{
  const SlabCut cut{ 2, 10, 4, 2 };
  EXPECT_EQ(cut.GetCount(), 3);
  EXPECT_EQ(cut.GetOwned(2).first, 8);
  EXPECT_EQ(cut.GetOwned(2).end, 10);
  EXPECT_EQ(cut.GetHeld(1).first, 2);
  EXPECT_EQ(cut.GetHeld(1).end, 10);
  EXPECT_EQ(cut.FindSlabs({ 3, 5 }).first, 0);
  EXPECT_EQ(cut.FindSlabs({ 3, 5 }).end, 2);
  EXPECT_EQ(cut.FindSlabs({ 5, 5 }).GetCount(), 0);
}

/** Adds the slabs that are used to `used`, in order, and returns how many of them had to be loaded. */
int
Use(LoadedSlabs & loaded, const PlaneRange & slabs, std::vector<int> & used)
{
  int missing = 0;
  loaded.ForEachOf(slabs, [&](int slab) {
    used.push_back(slab);
    if (!loaded.Use(slab))
    {
      loaded.TakeBuffer();
      loaded.Put(slab);
      ++missing;
    }
  });
  return missing;
}

TEST(LoadedSlabsTest, TheBufferUsedLastIsKept)
{
  LoadedSlabs loaded(2);
  EXPECT_FALSE(loaded.Has(0));
  EXPECT_FALSE(loaded.Use(0));
  const std::size_t first = loaded.TakeBuffer();
  EXPECT_EQ(loaded.GetLast(), first);
  EXPECT_FALSE(loaded.Has(3)) << "before it is there";
  loaded.Put(3);
  EXPECT_TRUE(loaded.Has(3));
  const std::size_t second = loaded.TakeBuffer();
  EXPECT_NE(second, first);
  loaded.Put(4);
  EXPECT_TRUE(loaded.Has(3) && loaded.Has(4));
  EXPECT_TRUE(loaded.Use(3));
  EXPECT_EQ(loaded.GetLast(), first);
  EXPECT_EQ(loaded.TakeBuffer(), second);
  EXPECT_TRUE(loaded.Has(3));
  EXPECT_FALSE(loaded.Has(4));

  LoadedSlabs one;
  EXPECT_EQ(one.TakeBuffer(), 0u);
  one.Put(7);
  EXPECT_EQ(one.TakeBuffer(), 0u);
  EXPECT_FALSE(one.Has(7));
}

TEST(LoadedSlabsTest, SlabsAreUsedFromTheEndThatIsThere)
{
  for (const int buffers : { 1, 2 })
  {
    LoadedSlabs      loaded(static_cast<std::size_t>(buffers));
    std::vector<int> used;
    EXPECT_EQ(Use(loaded, { 0, 5 }, used), 5);
    EXPECT_EQ(Use(loaded, { 0, 5 }, used), 5 - buffers);
    EXPECT_EQ(Use(loaded, { 0, 5 }, used), 5 - buffers);
    EXPECT_EQ(used, (std::vector<int>{ 0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4 }));
    EXPECT_EQ(Use(loaded, { 4, 4 }, used), 0) << "none";
  }
  // Tests both directions.
  LoadedSlabs      loaded(2);
  std::vector<int> used;
  EXPECT_EQ(Use(loaded, { 3, 5 }, used), 2);
  EXPECT_EQ(Use(loaded, { 4, 6 }, used), 1);
  EXPECT_EQ(Use(loaded, { 3, 5 }, used), 1);
  EXPECT_EQ(Use(loaded, { 3, 5 }, used), 0);
}

TEST(ResamplePlanTest, TheLeastIsThreePlanesAndARow)
{
  const ResampleSizes s = MakeSizes(10, 40);
  EXPECT_EQ(GetLeastBytes(s), 3 * 100 + 10 + 5u);
  EXPECT_FALSE(PlanResampling(s, { 314, Unbounded }));
  EXPECT_FALSE(PlanResampling(s, { Unbounded, 299 }));
  const auto plan = PlanResampling(s, { 315, 300 });
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->slabs.owned, 1);
  EXPECT_EQ(plan->tileRows, 1);
  EXPECT_EQ(plan->outputBuffers, 1u);
  EXPECT_EQ(plan->inputBytes, 300u);
  EXPECT_EQ(plan->tileBytes, 10u);
}

TEST(ResamplePlanTest, WithoutAMarginTheLeastIsOnePlane)
{
  ResampleSizes s = MakeSizes(10, 40);
  s.input.margin = 0;
  EXPECT_EQ(GetLeastBytes(s), 100 + 10 + 5u);
  // If there are two planes, and one on either side is needed, a slab contains both.
  EXPECT_EQ(GetLeastBytes(MakeSizes(2, 40)), 200 + 10 + 5u);
  // An input that is read in place takes no memory.
  s.planeBytes = 0;
  EXPECT_EQ(GetLeastBytes(s), 10 + 5u);
  // Computing coefficients may need more memory than a slab, but not more than the whole input.
  s = MakeSizes(10, 40);
  s.leastSlabBytes = 700;
  EXPECT_EQ(GetLeastBytes(s), 700 + 10 + 5u);
  s.leastSlabBytes = 2000;
  EXPECT_EQ(GetLeastBytes(s), 1000 + 10 + 5u);
}

TEST(ResamplePlanTest, TheWholeIsAllPlanesAndTwoTiles)
{
  ResampleSizes s = MakeSizes(10, 40);
  const auto    plan = PlanResampling(s, { 1000 + 2 * 50 + 5, 1000 });
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->slabs.GetCount(), 1);
  EXPECT_EQ(plan->inputBytes, 1000u);
  EXPECT_EQ(plan->tileRows, 5);
  EXPECT_EQ(plan->tileBytes, 50u);
  EXPECT_EQ(plan->outputBuffers, 2u);
  // An output in one tile needs one buffer.
  s.mostTileBytes = 400;
  const auto once = PlanResampling(s, { 1000 + 400 + 5, 1000 });
  ASSERT_TRUE(once);
  EXPECT_EQ(once->slabs.GetCount(), 1);
  EXPECT_EQ(once->tileRows, 40);
  EXPECT_EQ(once->outputBuffers, 1u);
  // No array may be that large.
  const auto cut = PlanResampling(s, { 10000, 999 });
  ASSERT_TRUE(cut);
  EXPECT_GT(cut->slabs.GetCount(), 1);
  EXPECT_LE(cut->inputBytes, 999u);
}

TEST(ResamplePlanTest, TilesAreOfWholePlanes)
{
  ResampleSizes s = MakeSizes(10, 42);
  s.rowsOfPlane = 6;
  s.mostTileBytes = 170;
  EXPECT_EQ(PlanResampling(s, { Unbounded, Unbounded })->tileRows, 12);
  // There is room for one tile.
  s.mostTileBytes = 50;
  EXPECT_EQ(PlanResampling(s, { Unbounded, Unbounded })->tileRows, 5);
  s.mostTileBytes = 1;
  EXPECT_EQ(PlanResampling(s, { Unbounded, Unbounded })->tileRows, 1);
}

/** 1000 bytes of input stay on the device, and rows use the remaining memory. */
TEST(ResamplePlanTest, AnInputThatFitsBesideSmallTilesStaysWhole)
{
  ResampleSizes s = MakeSizes(10, 400);
  s.mostTileBytes = 4000;
  s.findPlanes = [](const RowRange &) { return PlaneRange{ 0, 10 }; };
  const auto plan = PlanResampling(s, { 1400, Unbounded });
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->slabs.GetCount(), 1);
  EXPECT_EQ(plan->outputBuffers, 2u);
}

/** One slab is uploaded while the one before is read, if that costs no more than it hides. */
TEST(ResamplePlanTest, SlabsHaveTwoBuffersWhereTheyAreThick)
{
  const ResampleSizes s = MakeSizes(100, 1000);
  const auto          thick = PlanResampling(s, { 6000, Unbounded });
  ASSERT_TRUE(thick);
  EXPECT_EQ(thick->inputBuffers, 2u);
  // With one plane for each of two buffers, three would be uploaded for each.
  const auto thin = PlanResampling(s, { 700, Unbounded });
  ASSERT_TRUE(thin);
  EXPECT_EQ(thin->inputBuffers, 1u);
  // No array may contain all of it; two contain half of it each.
  const auto halves = PlanResampling(s, { 40000, 5500 });
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->inputBuffers, 2u);
  EXPECT_EQ(halves->slabs.GetCount(), 2);
}

/** If each row needs all planes, each tile uploads all of them: few tiles. If a row needs one plane: thick slabs. */
TEST(ResamplePlanTest, TilesAreLargeWhereEachNeedsAllOfTheInput)
{
  ResampleSizes s = MakeSizes(100, 1000);
  const auto    straight = PlanResampling(s, { 4000, Unbounded });
  s.findPlanes = [](const RowRange &) { return PlaneRange{ 0, 100 }; };
  const auto turned = PlanResampling(s, { 4000, Unbounded });
  ASSERT_TRUE(straight && turned);
  EXPECT_GT(turned->tileRows, straight->tileRows);
  EXPECT_LT(turned->slabs.owned, straight->slabs.owned);
}

/** Eight planes of a grid, of 100 bytes each, of which a row needs three. */
TEST(ResamplePlanTest, AGridIsCutWhereItIsLarge)
{
  ResampleSizes s = MakeSizes(10, 40);
  s.gridPlanes = 8;
  s.gridPlaneBytes = 100;
  s.otherVectorBytes = 30;
  s.countGridPlanes = [](std::int64_t rows) { return static_cast<int>(std::min<std::int64_t>(8, 3 + rows / 5)); };
  const std::size_t least = 300 + 10 + 300 + 30 + 5;
  EXPECT_EQ(GetLeastBytes(s), least);
  EXPECT_FALSE(PlanResampling(s, { least - 1, Unbounded }));
  const auto thin = PlanResampling(s, { least, 330 });
  ASSERT_TRUE(thin);
  EXPECT_EQ(thin->gridPlanes, 3);
  EXPECT_EQ(thin->gridBytes, 300u);
  EXPECT_FALSE(PlanResampling(s, { Unbounded, 329 })) << "vectors of all grids are one array";
  const auto whole = PlanResampling(s, { 1000 + 100 + 830 + 5, 1000 });
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->gridPlanes, 8);
  EXPECT_EQ(whole->slabs.GetCount(), 1);
}

TEST(ResamplePlanTest, RandomPlansFitIntoTheMemory)
{
  std::uint64_t count = 0, planned = 0, inSlabs = 0, inGridPlanes = 0;
  ForEachDrawn(1, 2000, [&](const ResampleSizes & s, Random & random) {
    const std::size_t     ample = GetAmpleBytes(s);
    const std::size_t     least = GetLeastBytes(s);
    const AvailableMemory memory{ least + random() % (ample - least + 1),
                                  Chance(random, 2) ? Unbounded : least / 3 + random() % (ample - least / 3 + 1) };
    const auto            plan = PlanResampling(s, memory);
    ++count;
    if (plan)
    {
      SCOPED_TRACE(std::to_string(memory.free) + " bytes, " + std::to_string(memory.largestAllocation) +
                   " in one array");
      ExpectSound(s, *plan, memory);
      ++planned;
      inSlabs += plan->slabs.GetCount() > 1;
      inGridPlanes += plan->gridPlanes < s.gridPlanes;
    }
  });
  if (count >= 100)
  {
    EXPECT_GE(2 * planned, count) << "there was no room for most of the drawn cases";
    EXPECT_GE(10 * inSlabs, count) << "hardly any input was divided";
    EXPECT_GE(20 * inGridPlanes, count) << "hardly any grid was divided";
  }
}

TEST(ResamplePlanTest, WithAmpleMemoryNothingIsCut)
{
  ForEachDrawn(1, 1000, [](const ResampleSizes & s, Random &) {
    const std::size_t ample = GetAmpleBytes(s);
    for (const AvailableMemory & memory : { AvailableMemory{ Unbounded, Unbounded }, AvailableMemory{ ample, ample } })
    {
      const auto plan = PlanResampling(s, memory);
      ASSERT_TRUE(plan);
      ExpectSound(s, *plan, memory);
      EXPECT_EQ(plan->slabs.GetCount(), 1);
      EXPECT_EQ(plan->slabs.GetHeld(0).GetCount(), s.input.planes);
      EXPECT_EQ(plan->inputBytes, GetWholeBytes(s));
      EXPECT_EQ(plan->gridPlanes, s.gridPlanes);
      EXPECT_LE(plan->tileBytes, std::max(s.mostTileBytes, s.rowBytes));
      EXPECT_EQ(plan->outputBuffers, plan->tileRows < s.rows ? s.mostBuffers : 1u);
    }
  });
}

TEST(ResamplePlanTest, TheLeastBytesAreEnoughAndNoneLessAre)
{
  ForEachDrawn(1, 1000, [](const ResampleSizes & s, Random &) {
    const std::size_t least = GetLeastBytes(s);
    EXPECT_EQ(least, GetLeastNeeds(s).all);
    const AvailableMemory memory{ least, Unbounded };
    const auto            plan = PlanResampling(s, memory);
    ASSERT_TRUE(plan);
    ExpectSound(s, *plan, memory);
    for (const std::size_t less : { std::size_t{ 0 }, least / 2, least - 1 })
    {
      EXPECT_FALSE(PlanResampling(s, { less, Unbounded })) << less << " bytes";
    }
  });
}

/** There is a plan exactly if there is room for the smallest one: a plan for some limit exists for any larger one, too. */
TEST(ResamplePlanTest, ThereIsAPlanWhereTheSmallestFits)
{
  ForEachDrawn(1, 500, [](const ResampleSizes & s, Random & random) {
    const Needs       needs = GetLeastNeeds(s);
    const std::size_t ample = GetAmpleBytes(s);
    const std::size_t largest = std::max({ needs.slab, needs.tile, needs.vectors });
    for (const std::size_t free : { needs.all - 1, needs.all, needs.all + 1 + random() % 100, random() % ample, ample })
    {
      for (const std::size_t array : { largest - 1, largest, largest + random() % 100, random() % ample, ample })
      {
        EXPECT_EQ(PlanResampling(s, { free, array }).has_value(), FitsInto(needs, { free, array }))
          << free << " bytes, " << array << " in one array; the least is " << needs.all << ", and " << largest;
      }
    }
  });
}

} // namespace gpuregtest
