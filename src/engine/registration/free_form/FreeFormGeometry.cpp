// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormGeometry.h"

#include "engine/core/Matrix3.h"
#include "engine/registration/free_form/FreeFormPairs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

namespace gpureg
{

namespace
{
/** Returns the size of a voxel in mm, mm² or mm³, by the dimension. */
double
GetVoxelVolume(const RegisteredImage & image, int dimension)
{
  const auto edges = GetSpacing(image);
  return std::accumulate(edges.begin(), edges.begin() + dimension, 1.0, std::multiplies<>());
}

int
CountUsefulLevels(const FreeFormProblem & problem, const FreeFormSettings & settings, const MaskShares & shares)
{
  constexpr int          mostLevels = 4;
  constexpr std::int64_t leastOfAny = 256;
  const std::int64_t     least = std::max(leastOfAny, ComputeLeastVoxels(problem, settings));
  int                    levels = 1;
  // If axes have few voxels, a level may equal the one before.
  while (levels < mostLevels && CountLevelVoxels(problem, shares, levels) >= least &&
         ComputeLevelFactors(problem, problem.fixed, levels) != ComputeLevelFactors(problem, problem.fixed, levels - 1))
  {
    ++levels;
  }
  return levels;
}
} // namespace

std::int64_t
ComputeLeastVoxels(const FreeFormProblem & problem, const FreeFormSettings & settings)
{
  std::int64_t least = 0;
  for (const WeighedPair & one : ListWeighedPairs(problem, settings))
  {
    const SimilarityDescription & similarity = Describe(one.pair.similarity.kind);
    const std::int64_t            bins = similarity.HasBins() ? one.pair.similarity.bins : 0;
    least = std::max(least, similarity.HasJointHistogram() ? bins * bins / 4 : 16 * bins);
  }
  return least;
}

std::int64_t
CountLevelVoxels(const FreeFormProblem & problem, const MaskShares & shares, int halvings)
{
  const Size factors = ComputeLevelFactors(problem, problem.fixed, halvings);
  Size       size = problem.fixed.size;
  std::transform(size.begin(), size.end(), factors.begin(), size.begin(), std::divides<>());
  const double movingVolume = shares.moving * static_cast<double>(CountOf(problem.moving.size)) *
                              GetVoxelVolume(problem.moving, problem.dimension);
  const double voxel = static_cast<double>(CountOf(factors)) * GetVoxelVolume(problem.fixed, problem.dimension);
  return std::llround(std::min(shares.fixed * static_cast<double>(CountOf(size)), movingVolume / voxel));
}

FreeFormSettings
CompleteSettings(const FreeFormProblem & problem, const FreeFormSettings & settings, const MaskShares & shares)
{
  constexpr double voxelsBetween = 5;
  const double     leastSpacing = voxelsBetween * ComputeUsualEdge({ problem.fixed }, problem.dimension);
  FreeFormSettings complete = settings;
  const auto       edges = GetSpacing(problem.fixed);
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dimension); ++d)
  {
    if (settings.spacing[d] == 0)
    {
      complete.spacing[d] = std::max(leastSpacing, voxelsBetween * edges[d]);
    }
  }
  if (settings.levels == 0)
  {
    complete.levels = CountUsefulLevels(problem, settings, shares);
  }
  return complete;
}

Size
ComputeLevelFactors(const FreeFormProblem & problem, const RegisteredImage & image, int halvings)
{
  const double edge = std::min(ComputeShortestEdge(problem.fixed, problem.dimension),
                               ComputeShortestEdge(problem.moving, problem.dimension));
  return ComputeFactors(image, problem.dimension, std::ldexp(edge, halvings));
}

FreeFormGrid
MakeFreeFormGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int halvings)
{
  const std::array<double, 3> voxel = GetSpacing(problem.fixed);
  FreeFormGrid                grid;
  grid.dimension = problem.dimension;
  grid.size = { 1, 1, 1 };
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dimension); ++d)
  {
    const double step = std::ldexp(settings.spacing[d], halvings) / voxel[d];
    // The domain begins at the outer edge of the first voxel, and one control point lies before it.
    grid.size[d] = static_cast<int>(std::ceil(problem.fixed.size[d] / step)) + FreeFormOrder;
    grid.toImage.matrix[4 * d] = step;
    grid.toImage.offset[d] = -0.5 - step;
  }
  return grid;
}

IndexMap
MakeImageToGrid(const FreeFormProblem & problem, const RegisteredImage & fixed, const FreeFormGrid & grid)
{
  const IndexMap   toGrid = InvertMap(grid.toImage);
  const IndexMap & first = problem.fixed.indexToPoint;
  if (fixed.indexToPoint.matrix == first.matrix && fixed.indexToPoint.offset == first.offset)
  {
    return toGrid;
  }
  // Drops what rounding leaves beside the diagonal: it would make parallel grids oblique, for which there are no tables.
  constexpr double rounding = 1e-7; // voxels, along the image
  IndexMap         toFirst = Compose(InvertMap(first), fixed.indexToPoint);
  for (std::size_t entry = 0; entry < toFirst.matrix.size(); ++entry)
  {
    if (entry % 4 != 0 && std::abs(toFirst.matrix[entry]) * fixed.size[entry % 3] < rounding)
    {
      toFirst.matrix[entry] = 0;
    }
  }
  return Compose(toGrid, toFirst);
}

TransformChain
MakeLevelChain(const FreeFormProblem & problem, const RegisteredImage & moving)
{
  TransformChain chain = problem.initial;
  chain.dimension = problem.dimension;
  if (!chain.steps.empty())
  {
    DisplacementGrid voxels;
    voxels.toGrid = InvertMap(moving.indexToPoint);
    voxels.vectors = [](std::int64_t, std::int64_t, double *) {};
    chain.Append(std::move(voxels));
  }
  return chain;
}

} // namespace gpureg
