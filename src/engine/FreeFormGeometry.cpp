// SPDX-License-Identifier: Apache-2.0
#include "FreeFormGeometry.h"

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
/** mm, mm² or mm³. */
double
GetVoxelVolume(const RegisteredImage & image, int dimension)
{
  const auto edges = GetSpacing(image);
  return std::accumulate(edges.begin(), edges.begin() + dimension, 1.0, std::multiplies<>());
}

/** How many voxels a level is to have at least, where nobody says how many levels there are. */
double
GetLeastVoxels(const FreeFormSettings & settings)
{
  const double bins = settings.similarity == SimilarityKind::NormalizedMutualInformation ? settings.bins : 64;
  return 2 * bins * bins;
}

int
CountUsefulLevels(const FreeFormProblem & problem, const FreeFormSettings & settings, const MaskShares & shares)
{
  constexpr int mostLevels = 4;
  int           levels = 1;
  while (levels < mostLevels &&
         static_cast<double>(CountLevelVoxels(problem, shares, levels)) >= GetLeastVoxels(settings))
  {
    ++levels;
  }
  return levels;
}
} // namespace

std::int64_t
CountLevelVoxels(const FreeFormProblem & problem, const MaskShares & shares, int level)
{
  const auto   factors = FindLevelFactors(problem, problem.fixed, level);
  std::int64_t voxels = 1;
  double       volume = GetVoxelVolume(problem.fixed, problem.dimension);
  for (std::size_t d = 0; d < 3; ++d)
  {
    voxels *= problem.fixed.size[d] / factors[d];
    volume *= factors[d];
  }
  const double room = shares.moving * static_cast<double>(CountOf(problem.moving.size)) *
                      GetVoxelVolume(problem.moving, problem.dimension);
  return std::llround(std::min(shares.fixed * static_cast<double>(voxels), room / volume));
}

FreeFormSettings
CompleteSettings(const FreeFormProblem & problem, const FreeFormSettings & settings, const MaskShares & shares)
{
  constexpr double leastSpacing = 5;
  constexpr double voxelsBetween = 5;
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
FindLevelFactors(const FreeFormProblem & problem, const RegisteredImage & image, int level)
{
  if (level == 0)
  {
    return { 1, 1, 1 };
  }
  const double edge =
    std::min(FindShortestEdge(problem.fixed, problem.dimension), FindShortestEdge(problem.moving, problem.dimension));
  return FindFactors(image, problem.dimension, std::ldexp(edge, level));
}

LevelGrid
MakeLevelGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int level)
{
  const std::array<double, 3> voxel = GetSpacing(problem.fixed);
  LevelGrid                   grid;
  grid.dimension = problem.dimension;
  grid.size = { 1, 1, 1 };
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dimension); ++d)
  {
    const double step = std::ldexp(settings.spacing[d], level) / voxel[d];
    // The domain begins with the first voxel's outer edge, a control point before it.
    grid.size[d] = static_cast<int>(std::ceil(problem.fixed.size[d] / step)) + FreeFormOrder;
    grid.toImage.matrix[4 * d] = step;
    grid.toImage.offset[d] = -0.5 - step;
  }
  return grid;
}

TransformChain
MakeLevelChain(const FreeFormProblem & problem)
{
  TransformChain chain = problem.initial;
  chain.dimension = problem.dimension;
  if (!chain.steps.empty())
  {
    DisplacementGrid voxels;
    voxels.toGrid = InvertMap(problem.moving.indexToPoint);
    voxels.vectors = [](std::int64_t, std::int64_t, double *) {};
    chain.Append(std::move(voxels));
  }
  return chain;
}

} // namespace gpureg
