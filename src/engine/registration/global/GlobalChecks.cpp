// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalChecks.h"

#include "engine/core/NumberNames.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/registration/global/GlobalPairs.h"
#include "engine/registration/global/GlobalSearch.h"

#include "gpureg/core/Error.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
constexpr double Degree = GlobalSettings::Pi / 180;

void
CheckPair(const FurtherPair & pair)
{
  CheckServes("cost", pair.similarity.kind, &SimilarityDescription::isForGlobal);
  // 0 bins stand for the usual number.
  if (pair.similarity.bins != 0 || !Describe(pair.similarity.kind).HasBins())
  {
    CheckSettings(pair.similarity);
  }
  if (!(pair.weight >= 0 && std::isfinite(pair.weight)))
  {
    throw BadInputError("a pair's weight is " + NameNumber(pair.weight) +
                        "; give 0 or more, relative to the 1 of the first pair");
  }
}
} // namespace

PoseKind
GetPoseKind(int degreesOfFreedom)
{
  switch (degreesOfFreedom)
  {
    case 3:
      return PoseKind::Translation;
    case 6:
      return PoseKind::Rigid;
    case 7:
      return PoseKind::Similarity;
    case 9:
      return PoseKind::Scales;
    case 12:
      return PoseKind::Affine;
    default:
      throw BadInputError("there are no " + std::to_string(degreesOfFreedom) +
                          " degrees of freedom; set 3, 6, 7, 9 or 12, of two dimensions, too");
  }
}

void
CheckSettings(const GlobalProblem & problem, const GlobalSettings & settings)
{
  if (problem.dimension < 2 || problem.dimension > 3)
  {
    throw BadInputError("images of " + std::to_string(problem.dimension) + " dimensions; give 2 or 3");
  }
  // Each function throws for a value that it does not know.
  GetName(settings.optimizer);
  GetPoseKind(settings.degreesOfFreedom);
  const std::vector<FurtherPair> pairs = ListPairs(problem, settings);
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    WithPairNamed(number, [&] { CheckPair(pairs[number]); });
  }
  for (std::size_t axis = 0; axis < settings.angles.size(); ++axis)
  {
    const std::array<double, 2> & range = settings.angles[axis];
    // The last digit of a full circle that was converted from degrees may be off.
    if (!(range[0] <= range[1] && range[1] - range[0] <= 2 * GlobalSettings::Pi + 1e-9 && std::isfinite(range[0])))
    {
      throw BadInputError("the search angles about axis " + std::to_string(axis) + " are from " +
                          NameNumber(range[0] / Degree) + " to " + NameNumber(range[1] / Degree) +
                          " degrees; give a range from the smaller to the larger one, of 360 at most");
    }
  }
  if (settings.degreesOfFreedom == 3 && GlobalSearch::SearchesAngles(settings, problem.dimension))
  {
    throw BadInputError("a translation, of 3 degrees of freedom, has no angles to search; set the search angles to 0");
  }
  if (!(settings.finestEdge >= 0 && std::isfinite(settings.finestEdge)))
  {
    throw BadInputError("the finest spacing is " + NameLength(settings.finestEdge) +
                        "; set a length above 0, such as 1 for a head, or 0 for one that follows from the images");
  }
  if (!(settings.leastOverlap >= 0 && settings.leastOverlap <= 1))
  {
    throw BadInputError("the least overlap is " + NameNumber(settings.leastOverlap) +
                        "; set a share from 0 to 1, such as 0.25");
  }
}

void
CheckHasSlices(const RegisteredImage & image, int dimension, const char * which)
{
  for (int axis = 0; axis < dimension; ++axis)
  {
    if (image.size[static_cast<std::size_t>(axis)] < 2)
    {
      throw BadInputError(std::string("the ") + which + " image has one voxel along axis " + std::to_string(axis) +
                          ": about the others there is nothing to turn; " +
                          (dimension == 3 ? "register images of two dimensions" : "give one that has two or more"));
    }
  }
}

} // namespace gpureg
