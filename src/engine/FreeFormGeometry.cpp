// SPDX-License-Identifier: Apache-2.0
#include "FreeFormGeometry.h"

#include "Matrix3.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace gpureg
{

std::array<double, 3>
GetSpacing(const IndexMap & indexToPoint)
{
  std::array<double, 3> spacing{};
  for (std::size_t c = 0; c < 3; ++c)
  {
    const auto & m = indexToPoint.matrix;
    spacing[c] = std::sqrt(m[c] * m[c] + m[3 + c] * m[3 + c] + m[6 + c] * m[6 + c]);
  }
  return spacing;
}

Size
FindFactors(const FreeFormImage & image, int dimension, double edge)
{
  constexpr int               leastVoxels = 8;
  const std::array<double, 3> spacing = GetSpacing(image);
  Size                        factors{ 1, 1, 1 };
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    const auto wanted = static_cast<int>(std::lround(edge / spacing[d]));
    factors[d] =
      std::clamp(wanted, 1, std::max(1, std::min(1 << (MostFreeFormLevels - 1), image.size[d] / leastVoxels)));
  }
  return factors;
}

double
FindShortestEdge(const FreeFormImage & image, int dimension)
{
  const std::array<double, 3> spacing = GetSpacing(image);
  return *std::min_element(spacing.begin(), spacing.begin() + dimension);
}

IndexMap
InvertMap(const IndexMap & map)
{
  IndexMap inverse;
  inverse.matrix = Invert(map.matrix);
  inverse.offset = Multiply(inverse.matrix, map.offset);
  std::transform(inverse.offset.begin(), inverse.offset.end(), inverse.offset.begin(), [](double x) { return -x; });
  return inverse;
}

LevelGrid
MakeLevelGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int level)
{
  const std::array<double, 3> voxel = GetSpacing(problem.fixed);
  LevelGrid                   grid;
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
