// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/SamplePartition.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
int
DividedUp(std::int64_t a, std::int64_t b)
{
  return static_cast<int>((a + b - 1) / b);
}

/** Reshapes a grid of one slice into slabs as high as a tile, so that lanes can walk along them. The height is a power of two, so the map
 *  is not rounded. */
void
ReshapeSlice(SampleProblem & problem, int lanes)
{
  kernels::SampleArguments & a = problem.arguments;
  const int                  rows = a.virtualShape.size[1];
  const int                  height = lanes / kernels::TileWidth;
  a.missingRows = 0;
  a.rowsOfSlab = 0;
  if ((a.variant & kernels::SamplesArePoints) || a.virtualShape.size[2] > 1 || rows <= height)
  {
    return;
  }
  const int slices = DividedUp(rows, height);
  a.virtualShape = kernels::MakeVolumeShape(a.virtualShape.size[0], height, slices);
  a.missingRows = (height - rows % height) % height;
  a.rowsOfSlab = height;
  ReshapeMap(height, problem.maps);
  a.centre[2] = std::floor(a.centre[1] / static_cast<float>(height));
  a.centre[1] -= static_cast<float>(height) * a.centre[2];
}

/** Cuts the samples into chunks of even depth. There are enough chunks to fill the device, no chunk is larger than the metric's sums allow,
 *  and few are smaller than what justifies sums of their own. */
void
Partition(kernels::SampleArguments & a, const SampleGrain & grain, const SampleNeeds & needs)
{
  const int          deepest = needs.mostOfChunk / grain.lanes;
  const int          least = std::clamp(needs.leastOfChunk / grain.lanes, 1, deepest);
  const bool         points = a.variant & kernels::SamplesArePoints;
  const int          tilesX = points ? 1 : DividedUp(a.virtualShape.size[0], kernels::TileWidth);
  const int          tilesY = points ? 1 : DividedUp(a.virtualShape.size[1], grain.lanes / kernels::TileWidth);
  const std::int64_t depth = points ? DividedUp(a.pointCount, grain.lanes) : a.virtualShape.size[2];
  const std::int64_t tiles = static_cast<std::int64_t>(tilesX) * tilesY;
  const std::int64_t wanted =
    std::max<std::int64_t>(DividedUp(depth, deepest),
                           std::min<std::int64_t>(DividedUp(depth, least), grain.targetChunks / tiles));
  a.tileDepth = std::max(1, DividedUp(depth, std::max<std::int64_t>(1, wanted)));
  a.tileCount[0] = tilesX;
  a.tileCount[1] = tilesY;
  a.tileCount[2] = DividedUp(depth, a.tileDepth);
}
} // namespace

void
ReshapeMap(int rows, kernels::SampleMaps & maps)
{
  for (int r = 0; rows > 0 && r < 3; ++r)
  {
    maps.toMoving.row[4 * r + 2] = rows * maps.toMoving.row[4 * r + 1];
  }
}

void
CutIntoChunks(SampleProblem & problem, const SampleGrain & grain, const SampleNeeds & needs)
{
  ReshapeSlice(problem, grain.lanes);
  Partition(problem.arguments, grain, needs);
}

void
UndoReshapeOfSums(const kernels::SampleArguments & a, const Size & virtualSize, ForceResult & result)
{
  if (a.virtualShape.size[2] == virtualSize[2])
  {
    return;
  }
  // y = y' + height·z'.
  const int height = a.virtualShape.size[1];
  for (int c = 0; c < 3; ++c)
  {
    result.forceSums[6 + c] += height * result.forceSums[9 + c];
    result.forceSums[9 + c] = 0;
  }
  result.centre[1] += height * result.centre[2];
  result.centre[2] = 0;
}

std::size_t
CountPartials(const kernels::SampleArguments & arguments, int parts)
{
  return static_cast<std::size_t>(kernels::ChunkCount(&arguments)) * parts * kernels::PartialCount(arguments.variant);
}

} // namespace gpureg
