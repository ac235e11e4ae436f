// SPDX-License-Identifier: Apache-2.0
// Compares MergeChain, which combines all linear transforms between two grids to one affine map, with the chain step by step.
#include "engine/transform/MergedChain.h"

#include "IndexMaps.h"
#include "TestImages.h"
#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpuregtest
{

namespace
{
using gpureg::IndexMap;
using gpureg::MergedChain;
using gpureg::Vector3;

constexpr double Unit = 4294967296.0;

IndexMap
DrawMap(Random & random)
{
  IndexMap map;
  for (std::size_t i = 0; i < 9; ++i)
  {
    map.matrix[i] = (i % 4 == 0 ? 1.0 : 0.0) + Uniform(random, -0.2, 0.2);
  }
  for (double & offset : map.offset)
  {
    offset = Uniform(random, -20, 20);
  }
  return map;
}

gpureg::DisplacementGrid
DrawGridOfOrder(int order, Random & random)
{
  gpureg::DisplacementGrid grid;
  grid.order = order;
  grid.size = { 7, 6, 5 };
  grid.toGrid = DrawMap(random);
  return grid;
}

/** Returns a random grid without its chain, of a region that does not begin at 0. */
gpureg::ChainedGrid
DrawGrid(Random & random)
{
  gpureg::ChainedGrid grid;
  grid.size = { 9, 8, 7 };
  grid.firstOutput = { 3, -2, 5 };
  grid.firstInput = { -4, 1, 2 };
  grid.outputToPoint = DrawMap(random);
  grid.pointToInput = DrawMap(random);
  return grid;
}

/** Compares a map at an index with a point. \param index of the region */
void
ExpectAt(const gpureg::kernels::FixedMap & map, const std::array<int, 3> & index, const Vector3 & expected)
{
  for (int r = 0; r < 3; ++r)
  {
    const auto position = gpureg::kernels::ApplyFixedRow(&map, r, index[0], index[1], index[2]);
    // 2^-33 for each index before it, and as much for the offset.
    EXPECT_NEAR(static_cast<double>(position) / Unit, expected[static_cast<std::size_t>(r)], 40 / Unit) << r;
  }
}

/** Returns the point of an index of the region. */
Vector3
GetPoint(const gpureg::ChainedGrid & grid, const std::array<int, 3> & index)
{
  Vector3 whole;
  for (std::size_t d = 0; d < 3; ++d)
  {
    whole[d] = static_cast<double>(grid.firstOutput[d] + index[d]);
  }
  return Apply(grid.outputToPoint, whole);
}

Vector3
Subtract(const Vector3 & a, const std::array<std::int64_t, 3> & b)
{
  return { a[0] - static_cast<double>(b[0]), a[1] - static_cast<double>(b[1]), a[2] - static_cast<double>(b[2]) };
}

const std::vector<std::array<int, 3>> Indices{ { 0, 0, 0 }, { 8, 7, 6 }, { 8, 0, 3 }, { 1, 5, 0 } };

TEST(MergedChain, LinearPartsAreOneMap)
{
  ForEachSeed(11, 20, [&](std::uint64_t seed) {
    Random                      random(seed);
    gpureg::ChainedGrid         grid = DrawGrid(random);
    const std::vector<IndexMap> maps{ DrawMap(random), DrawMap(random), DrawMap(random) };
    for (const IndexMap & map : maps)
    {
      grid.transform.Append(map);
    }
    const MergedChain merged = gpureg::MergeChain(grid);
    EXPECT_TRUE(merged.parts.empty());
    for (const auto & index : Indices)
    {
      Vector3 point = GetPoint(grid, index);
      for (const IndexMap & map : maps)
      {
        point = Apply(map, point);
      }
      ExpectAt(merged.toInput, index, Subtract(Apply(grid.pointToInput, point), grid.firstInput));
    }
  });
}

/** Grids stay separate parts; linear transforms between them are in their maps and in the matrices of their vectors. */
TEST(MergedChain, GridsAreThePartsThatAreLeft)
{
  ForEachSeed(12, 20, [&](std::uint64_t seed) {
    Random              random(seed);
    gpureg::ChainedGrid grid = DrawGrid(random);
    const auto          before = DrawMap(random), between = DrawMap(random), alsoBetween = DrawMap(random);
    const auto          behind = DrawMap(random);
    const auto          spline = DrawGridOfOrder(3, random);
    auto                field = DrawGridOfOrder(1, random);
    field.kind = gpureg::GridKind::Field;
    grid.transform.Append(before);
    grid.transform.Append(spline);
    grid.transform.Append(between);
    grid.transform.Append(alsoBetween);
    grid.transform.Append(field);
    grid.transform.Append(behind);
    const MergedChain merged = gpureg::MergeChain(grid);
    ASSERT_EQ(merged.parts.size(), 2u);
    EXPECT_EQ(merged.parts[0].kind, gpureg::kernels::ChainPartIsSpline);
    EXPECT_EQ(merged.parts[0].order, 3);
    EXPECT_EQ(merged.parts[1].kind, gpureg::kernels::ChainPartIsField);
    EXPECT_EQ(merged.parts[0].firstVector, 0);
    EXPECT_EQ(merged.parts[1].firstVector, 7 * 6 * 5);
    const Vector3 u{ 0.7, -1.3, 0.4 };
    const Vector3 v{ -0.2, 0.9, 1.1 };
    for (const auto & index : Indices)
    {
      // Not displaced, by the affine maps alone.
      const Vector3 atSpline = Apply(before, GetPoint(grid, index));
      const Vector3 atField = Apply(alsoBetween, Apply(between, atSpline));
      ExpectAt(merged.parts[0].toGrid, index, Apply(spline.toGrid, atSpline));
      ExpectAt(merged.parts[1].toGrid, index, Apply(field.toGrid, atField));
      const Vector3 atEnd = Apply(grid.pointToInput, Apply(behind, atField));
      ExpectAt(merged.toInput, index, Subtract(atEnd, grid.firstInput));

      // Displaced by u at the first grid and by v at the second.
      const auto displaced = [](const Vector3 & point, const Vector3 & by) {
        return Vector3{ point[0] + by[0], point[1] + by[1], point[2] + by[2] };
      };
      const Vector3   moved = Apply(alsoBetween, Apply(between, displaced(atSpline, u)));
      const Vector3   movedEnd = Apply(grid.pointToInput, Apply(behind, displaced(moved, v)));
      const Vector3   d = gpureg::Multiply(merged.vectorMatrices[0], u);
      const Vector3   movedInGrid = Apply(field.toGrid, moved);
      const Vector3   inGrid = Apply(field.toGrid, atField);
      gpureg::Matrix3 carry;
      std::copy_n(merged.parts[1].carry, 9, carry.begin());
      const Vector3 carried = displaced(gpureg::Multiply(carry, d), gpureg::Multiply(merged.vectorMatrices[1], v));
      for (std::size_t r = 0; r < 3; ++r)
      {
        EXPECT_NEAR(inGrid[r] + d[r], movedInGrid[r], 1e-12);
        // carry has float precision.
        EXPECT_NEAR(atEnd[r] + carried[r], movedEnd[r], 2e-6);
      }
    }
  });
}

} // namespace
} // namespace gpuregtest
