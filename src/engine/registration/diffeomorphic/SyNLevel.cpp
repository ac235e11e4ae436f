// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SyNLevel.h"

#include "engine/field/FieldGeometry.h"
#include "engine/filter/LevelGeometry.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpureg
{

namespace
{
/** Returns the standard deviations of a level's smoothing, in an image's voxels. */
std::array<double, 3>
GetSigmas(const RegisteredImage & image, int dimension, const DiffeomorphicSettings & settings, int number)
{
  const auto &                given = settings.syn.smoothingSigmas;
  const int                   coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  const double                sigma = given.empty() ? coarser : given[static_cast<std::size_t>(number)];
  const std::array<double, 3> spacing = GetSpacing(image);
  std::array<double, 3>       sigmas{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    sigmas[d] = settings.syn.sigmasAreInMillimetres && !given.empty() ? sigma / spacing[d] : sigma;
  }
  return sigmas;
}
} // namespace

Size
GetShrinkFactors(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const auto & given = settings.syn.shrinkFactors;
  if (!given.empty())
  {
    return given[static_cast<std::size_t>(number)];
  }
  const int coarser = static_cast<int>(settings.iterations.size()) - 1 - number;
  return ComputeFactors(problem.fixed,
                        problem.dimension,
                        std::ldexp(ComputeShortestEdge(problem.fixed, problem.dimension), coarser));
}

LevelGrid
MakeShrunkGrid(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, const Size & factors)
{
  Size     size{};
  IndexMap toImage;
  for (std::size_t d = 0; d < 3; ++d)
  {
    size[d] = std::max(1, problem.fixed.size[d] / factors[d]);
    toImage.matrix[4 * d] = factors[d];
    toImage.offset[d] = 0.5 * (problem.fixed.size[d] - 1 - factors[d] * (size[d] - 1));
  }
  LevelGrid level = MakeLevelGrid(problem.dimension, size, Compose(problem.fixed.indexToPoint, toImage));
  for (std::size_t d = 0; d < 3; ++d)
  {
    // See MakeFieldGrid() of a FieldGeometry.
    const double first = std::ceil(static_cast<double>(settings.syn.firstIndex[d]) / factors[d]);
    level.grid.upperBorder[d] -= 2 * static_cast<int>(first);
  }
  return level;
}

std::vector<MiddleSources>
MakeSources(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const auto describe = [&](const RegisteredImage & image) {
    return MiddleSource{ image, GetSigmas(image, problem.dimension, settings, number) };
  };
  const auto weighed = ListWeighedPairs(problem, settings, FirstPair::IsKept);
  return ListMiddleSources(weighed, settings.flat, [&](const WeighedPair & pair) {
    return MiddleSources{ pair, describe(pair.pair.fixed), describe(pair.pair.moving) };
  });
}

} // namespace gpureg
