// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DiffeomorphicChecks.h"

#include "engine/core/NumberNames.h"
#include "engine/metric/SimilarityChoices.h"

#include "gpureg/core/Error.h"

#include <cmath>
#include <string>

namespace gpureg
{

namespace
{
// More are of no use: the coarsest level of an image of a thousand voxels along an axis then has thirty.
constexpr std::size_t MostLevels = 6;
constexpr int         MostIterations = 1000000;
constexpr int         MostRadius = 32;
constexpr double      LargestSigma = 20;
constexpr double      LongestStep = 5;

void
CheckNumber(const char * what, double number, double least, double most)
{
  if (!(number >= least && number <= most))
  {
    throw BadInputError(std::string(what) + " is " + NameNumber(number) + "; it is to be " + NameNumber(least) +
                        " to " + NameNumber(most));
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
  if (!problem.initial.steps.empty())
  {
    throw UnsupportedError("a diffeomorphic registration begins with a linear transform; resample the moving image by "
                           "the deformation first");
  }
  if (settings.iterations.empty() || settings.iterations.size() > MostLevels)
  {
    throw BadInputError("there are iterations for " + std::to_string(settings.iterations.size()) +
                        " levels; give 1 to " + std::to_string(MostLevels) + " numbers, one a level");
  }
  for (const int iterations : settings.iterations)
  {
    CheckNumber("the number of a level's iterations", iterations, 0, MostIterations);
  }
  CheckServes("similarity", settings.similarity, &SimilarityDescription::isForFreeForm);
  if (Describe(settings.similarity).HasBins())
  {
    CheckedBins(settings.similarity, settings.bins);
  }
  CheckNumber("a neighborhood's radius, in voxels,", settings.radius, 1, MostRadius);
  CheckNumber("the sigma that smooths an update, in voxels,", settings.updateSigma, 0, LargestSigma);
  CheckNumber("the sigma that smooths the field, in voxels,", settings.fieldSigma, 0, LargestSigma);
  if (!(settings.step > 0 && settings.step <= LongestStep))
  {
    throw BadInputError("a step of " + NameNumber(settings.step) + " voxels; it is to be above 0, and " +
                        NameNumber(LongestStep) + " at most");
  }
}

} // namespace gpureg
