// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormChecks.h"

#include "engine/registration/free_form/FreeFormGeometry.h"
#include "engine/registration/free_form/FreeFormPairs.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/core/NumberNames.h"
#include "engine/transform/InitialChain.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gpureg
{

std::vector<WeightedPenalty>
GetPenalties(const FreeFormSettings & settings)
{
  return { { PenaltyKind::BendingEnergy, settings.bendingWeight },
           { PenaltyKind::LinearEnergy, settings.linearWeight },
           { PenaltyKind::Jacobian, settings.jacobianWeight } };
}

std::int64_t
CountWeightedPenalties(const FreeFormSettings & settings)
{
  const auto penalties = GetPenalties(settings);
  return std::count_if(penalties.begin(), penalties.end(), [](const WeightedPenalty & penalty) {
    return penalty.weight > 0;
  });
}

SimilaritySettings
GetSimilarity(const FreeFormSettings & settings)
{
  return { settings.similarity, settings.bins, settings.radius };
}

double
GetSimilarityWeight(const FreeFormSettings & settings)
{
  return 1.0 - settings.bendingWeight - settings.linearWeight - settings.jacobianWeight;
}

namespace
{
/** \throws BadInputError for a number of samples that the similarity or the optimizer does not support */
void
CheckSamples(const FreeFormSettings & settings, bool hasFurther)
{
  constexpr std::int64_t mostSamples = std::numeric_limits<std::int32_t>::max();
  if (settings.samples < 0 || settings.samples > mostSamples)
  {
    throw BadInputError("an iteration may look at 1 to " + std::to_string(mostSamples) + " voxels, or 0 for all, not " +
                        std::to_string(settings.samples));
  }
  const SimilarityDescription & similarity = Describe(settings.similarity);
  if (settings.samples > 0 && similarity.HasNeighborhoods())
  {
    throw BadInputError(std::string(similarity.phrase) + " takes all voxels; set 0 samples, or another similarity");
  }
  if (settings.samples > 0 && settings.optimizer == FreeFormOptimizer::ConjugateGradient)
  {
    throw BadInputError("a conjugate gradient's lines are of one function; set 0 samples, or another optimizer");
  }
  if (settings.samples > 0 && hasFurther)
  {
    throw BadInputError("several pairs of images take all voxels; set 0 samples");
  }
}
} // namespace

void
CheckSettings(const FreeFormProblem & problem, const FreeFormSettings & settings)
{
  if (problem.dimension < 2 || problem.dimension > 3)
  {
    throw BadInputError("images of " + std::to_string(problem.dimension) + " dimensions; give 2 or 3");
  }
  CheckMapsPoints(problem.initial);
  // GetName() throws if there is no such optimizer.
  GetName(settings.optimizer);
  const std::vector<FurtherPair> pairs = ListPairs(problem, settings);
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    WithPairNamed(number, [&] {
      CheckServes("similarity", pairs[number].similarity.kind, &SimilarityDescription::isForFreeForm);
      CheckSettings(pairs[number].similarity);
      if (!(pairs[number].weight >= 0 && std::isfinite(pairs[number].weight)))
      {
        throw BadInputError("a pair's weight is at least 0, not " + std::to_string(pairs[number].weight));
      }
    });
  }
  CheckSamples(settings, !problem.further.empty());
  if (settings.levels < 0 || settings.levels > MostLevels)
  {
    throw BadInputError("a pyramid has 1 to " + std::to_string(MostLevels) +
                        " levels, or 0 for as many as are of use, not " + std::to_string(settings.levels));
  }
  double all = 0;
  for (const WeightedPenalty & penalty : GetPenalties(settings))
  {
    if (!(penalty.weight >= 0))
    {
      throw BadInputError("a penalty's weight is at least 0, not " + std::to_string(penalty.weight));
    }
    all += penalty.weight;
  }
  if (!(all < 1))
  {
    throw BadInputError("the penalties' weights come to " + std::to_string(all) +
                        " together; they are to be less than 1");
  }
  if (settings.convergenceWindow < 1 || !(settings.convergenceThreshold >= 0))
  {
    throw BadInputError("convergence is found over a window of 1 iteration or more, by a threshold of at least 0");
  }
  if (settings.iterations < 1 || !(settings.firstStep > 0 && std::isfinite(settings.firstStep)))
  {
    throw BadInputError("a level has at least one iteration, and a first step that is longer than 0");
  }
  for (int axis = 0; axis < problem.dimension; ++axis)
  {
    const double spacing = settings.spacing[static_cast<std::size_t>(axis)];
    const double edge = GetSpacing(problem.fixed)[static_cast<std::size_t>(axis)];
    // 0 stands for a default. The tolerance accepts a spacing that equals the edge except for its last digits.
    if (spacing != 0 && !(spacing >= 0.999 * edge && std::isfinite(spacing)))
    {
      throw BadInputError("control points are to be " + NameLength(spacing) + " apart along axis " +
                          std::to_string(axis) + "; give at least a voxel's edge, " + NameLength(edge));
    }
  }
}

} // namespace gpureg
