// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DiffeomorphicChecks.h"

#include "engine/core/NumberNames.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"
#include "engine/transform/InitialChain.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
// More are of no use: the coarsest level of an image of a thousand voxels along an axis then has thirty.
constexpr std::size_t MostDenseLevels = 6;
constexpr int         MostIterations = 1000000;
constexpr int         MostRadius = 32;
constexpr double      LargestSigma = 20;
constexpr double      LongestStep = 5;
// Sums of floats leave about 1e-7 of a variance.
constexpr double LeastNoise = 1e-3;
// As many as itk::SmoothingRecursiveGaussianImageFilter needs.
constexpr int    LeastVoxels = 4;
constexpr double MostWeight = 1e6;
// Voxels, or mm.
constexpr double LargestImageSigma = 1000;
// Voxels by which grids may differ that count as one: files round their geometry.
constexpr double MostApart = 0.01;

void
CheckNumber(const char * what, double number, double least, double most)
{
  if (!(number >= least && number <= most))
  {
    throw BadInputError(std::string(what) + " is " + NameNumber(number) + "; it is to be " + NameNumber(least) +
                        " to " + NameNumber(most));
  }
}

bool
IsIdentity(const TransformChain & chain)
{
  const IndexMap identity;
  return chain.steps.empty() && chain.first.matrix == identity.matrix && chain.first.offset == identity.offset;
}

void
CheckCount(const char * what, std::size_t count, std::size_t levels)
{
  if (count != 0 && count != levels)
  {
    throw BadInputError("there are " + std::to_string(count) + " " + what + " for " + std::to_string(levels) +
                        " levels; give one a level, or none");
  }
}

void
CheckSimilarity(const SimilaritySettings & similarity)
{
  // Throws for a number that is none, which has no description.
  GetName(similarity.kind);
  const SimilarityDescription & description = Describe(similarity.kind);
  CheckServes("similarity", similarity.kind, &SimilarityDescription::isForFields);
  if (description.HasNeighborhoods())
  {
    CheckNumber("a neighborhood's radius, in voxels,", similarity.radius, 1, MostRadius);
  }
  if (description.HasBins())
  {
    CheckedBins(similarity.kind, similarity.bins);
  }
}

/** Returns what grid an image has, for messages. */
std::string
DescribeGrid(const RegisteredImage & image, int dimension)
{
  const std::array<double, 3> spacing = GetSpacing(image);
  std::string                 sizes, edges, corner;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    sizes += (d > 0 ? " x " : "") + std::to_string(image.size[d]);
    edges += (d > 0 ? " x " : "") + NameNumber(spacing[d]);
    corner += (d > 0 ? ", " : "") + NameNumber(image.indexToPoint.offset[d]);
  }
  return sizes + " voxels of " + edges + " mm from (" + corner + ") on";
}

/** \throws BadInputError unless an image has the grid of the first fixed image */
void
CheckGrid(const RegisteredImage & first, const RegisteredImage & image, int dimension)
{
  const IndexMap & a = first.indexToPoint;
  const IndexMap & b = image.indexToPoint;
  double           apart = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(dimension); ++r)
  {
    double alongAxis = std::abs(a.offset[r] - b.offset[r]);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
    {
      alongAxis += std::abs(a.matrix[3 * r + d] - b.matrix[3 * r + d]) * first.size[d];
    }
    apart = std::max(apart, alongAxis);
  }
  if (first.size != image.size || !(apart <= MostApart * ComputeShortestEdge(first, dimension)))
  {
    throw BadInputError("the fixed image has " + DescribeGrid(image, dimension) + ", and that of the first pair " +
                        DescribeGrid(first, dimension) +
                        ", where the deformation is found: resample the fixed image on that grid");
  }
}

/** \throws BadInputError if SyN cannot register an image of this size, or if a level's smoothing would leave nothing of it. which: "fixed"
 *  or "moving" */
void
CheckImageOfSyN(const RegisteredImage & image, const char * which, int dimension, const SyNSettings & syn)
{
  const std::array<double, 3> spacing = GetSpacing(image);
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
  {
    // The border stays in place: there is to be something inside of it.
    if (image.size[d] < LeastVoxels)
    {
      const bool isSlice = dimension == 3 && image.size[d] == 1;
      throw BadInputError(std::string("the ") + which + " image has " +
                          (image.size[d] == 1 ? "one voxel" : std::to_string(image.size[d]) + " voxels") +
                          " along axis " + std::to_string(d) +
                          ", and SyN, which smooths as ITK does and holds the border in place, needs " +
                          std::to_string(LeastVoxels) + ": choose the greedy scheme or a velocity" +
                          (isSlice ? ", or register images of two dimensions" : ""));
    }
  }
  for (const double sigma : syn.smoothingSigmas)
  {
    bool leavesNothing = true;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
    {
      leavesNothing &= (syn.sigmasAreInMillimetres ? sigma / spacing[d] : sigma) > image.size[d];
    }
    if (leavesNothing)
    {
      throw BadInputError("a level's smoothing sigma of " + NameNumber(sigma) +
                          (syn.sigmasAreInMillimetres ? " mm" : " voxels") + " is longer than the " + which +
                          " image along each axis, and would leave nothing of it: take a smaller one");
    }
  }
}

void
CheckPairs(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings)
{
  const std::vector<FurtherPair> pairs = ListPairs(problem, settings);
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    WithPairNamed(number, [&] {
      CheckNumber("a pair's weight", pairs[number].weight, 0, MostWeight);
      CheckSimilarity(pairs[number].similarity);
      if (settings.scheme == DiffeomorphicScheme::Greedy)
      {
        CheckGrid(problem.fixed, pairs[number].fixed, problem.dimension);
      }
      else if (settings.scheme == DiffeomorphicScheme::SyN)
      {
        CheckImageOfSyN(pairs[number].fixed, "fixed", problem.dimension, settings.syn);
        CheckImageOfSyN(pairs[number].moving, "moving", problem.dimension, settings.syn);
      }
    });
  }
  if (ListWeighedPairs(problem, settings).empty())
  {
    throw BadInputError("the weights of all pairs of images are 0: then nothing is compared");
  }
}

void
CheckSyN(const DiffeomorphicProblem & problem, const SyNSettings & syn, std::size_t levels)
{
  CheckCount("shrink factors", syn.shrinkFactors.size(), levels);
  CheckCount("smoothing sigmas", syn.smoothingSigmas.size(), levels);
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dimension); ++d)
  {
    for (const Size & factors : syn.shrinkFactors)
    {
      CheckNumber("a shrink factor", factors[d], 1, problem.fixed.size[d] / (LeastVoxels - 1));
    }
  }
  for (const double sigma : syn.smoothingSigmas)
  {
    CheckNumber("a level's smoothing sigma", sigma, 0, LargestImageSigma);
  }
}

void
CheckStates(const DiffeomorphicProblem & problem, DiffeomorphicScheme scheme)
{
  if (!problem.fixedState && !problem.movingState)
  {
    return;
  }
  if (scheme != DiffeomorphicScheme::SyN)
  {
    throw UnsupportedError("SyN alone continues from fields to the middle; give the deformation as initial transform");
  }
  for (const std::optional<MiddleState> * state : { &problem.fixedState, &problem.movingState })
  {
    if (!*state || !(*state)->toMiddle || !(*state)->fromMiddle || CountOf((*state)->size) <= 0)
    {
      throw BadInputError("SyN continues from four fields: to the middle from both images, and back; give all or none");
    }
  }
}

void
CheckWeights(const std::array<double, 3> & weights, int dimension)
{
  const auto end = weights.begin() + dimension;
  std::for_each(weights.begin(), end, [](double weight) {
    CheckNumber("a weight of the derivative's components", weight, 0, MostWeight);
  });
  if (std::all_of(weights.begin(), end, [](double weight) { return weight == 0; }))
  {
    throw BadInputError("all weights of the derivative's components are 0: then nothing moves");
  }
}
} // namespace

void
CheckSettings(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings)
{
  if (problem.dimension < 2 || problem.dimension > 3)
  {
    throw BadInputError("images of " + std::to_string(problem.dimension) + " dimensions; give 2 or 3");
  }
  CheckMapsPoints(problem.initial);
  CheckMapsPoints(problem.fixedInitial);
  // These throw for a number that is none.
  GetName(settings.scheme);
  GetName(settings.optimizer);
  GetName(settings.smoothing);
  if (settings.iterations.empty() || settings.iterations.size() > MostDenseLevels)
  {
    throw BadInputError("there are iterations for " + std::to_string(settings.iterations.size()) +
                        " levels; give 1 to " + std::to_string(MostDenseLevels) + " numbers, one a level");
  }
  for (const int iterations : settings.iterations)
  {
    CheckNumber("the number of a level's iterations", iterations, 0, MostIterations);
  }
  CheckNumber("the sigma that smooths an update, in voxels,", settings.updateSigma, 0, LargestSigma);
  CheckNumber("the sigma that smooths the field, in voxels,", settings.fieldSigma, 0, LargestSigma);
  CheckNumber("the standard deviation of noise, of values from 0 to 1,", settings.noise, LeastNoise, 1);
  if (!(settings.step > 0 && settings.step <= LongestStep))
  {
    throw BadInputError("a step of " + NameNumber(settings.step) + " voxels; it is to be above 0, and " +
                        NameNumber(LongestStep) + " at most");
  }
  if (settings.optimizer == DiffeomorphicOptimizer::Adam && settings.scheme != DiffeomorphicScheme::Greedy)
  {
    throw UnsupportedError("Adam makes the steps of the greedy scheme alone: choose steps of the longest vector");
  }
  const auto isWhole = [](double weight) { return weight == 0 || weight == 1; };
  if (settings.optimizer == DiffeomorphicOptimizer::Adam &&
      !std::all_of(settings.weights.begin(), settings.weights.end(), isWhole))
  {
    throw UnsupportedError(
      "Adam scales each component of an update by itself, so that a weight of the derivative's components makes no "
      "difference unless it is 0: give weights of 0 and 1");
  }
  if (settings.smoothing == DiffeomorphicSmoothing::Recursive && settings.scheme == DiffeomorphicScheme::SyN)
  {
    throw UnsupportedError("SyN smooths by discrete Gaussians, as ITK's class does: choose Discrete");
  }
  CheckWeights(settings.weights, problem.dimension);
  if (settings.convergenceWindow != 0)
  {
    CheckNumber("the number of costs in a convergence window", settings.convergenceWindow, 2, MostIterations);
    CheckNumber("the convergence threshold", settings.convergenceThreshold, -1, 1);
  }
  CheckPairs(problem, settings);
  CheckStates(problem, settings.scheme);
  if (settings.scheme == DiffeomorphicScheme::SyN)
  {
    CheckSyN(problem, settings.syn, settings.iterations.size());
  }
  if (settings.scheme == DiffeomorphicScheme::Greedy && !IsIdentity(problem.fixedInitial))
  {
    throw UnsupportedError("the greedy scheme compares the fixed image where it is, and has no initial transform of "
                           "it; give that of the moving one, or choose SyN or a velocity");
  }
}

} // namespace gpureg
