// SPDX-License-Identifier: Apache-2.0
#include "FreeFormGeometry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace gpureg
{

double
GetControlPointSpacing(const FreeFormProblem & problem, const FreeFormSettings & settings, int axis)
{
  const auto d = static_cast<std::size_t>(axis);
  return settings.spacing[d] == 0 ? 5 * std::max(1.0, GetSpacing(problem.fixed)[d]) : settings.spacing[d];
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
    const double spacing = GetControlPointSpacing(problem, settings, static_cast<int>(d));
    const double step = std::ldexp(spacing, level) / voxel[d];
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
