// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/TeamChecks.h"

#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"

#include "gpureg/core/Error.h"

#include <string>

namespace gpureg
{

namespace
{
/** Returns what keeps so many devices from registering together; an empty text if nothing does. */
std::string
FindUnsupported(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, std::size_t devices)
{
  const bool isSyN = settings.scheme == DiffeomorphicScheme::SyN;
  if (devices < 2 || (isSyN && devices == 2))
  {
    return "";
  }
  if (!isSyN && settings.scheme != DiffeomorphicScheme::Greedy)
  {
    return "several devices register together by the greedy scheme or by SyN";
  }
  const std::string who =
    isSyN ? "more than two devices register together by SyN " : "several devices register together greedily ";
  return problem.dimension != 3                                   ? who + "images of three dimensions"
         : settings.smoothing != DiffeomorphicSmoothing::Discrete ? who + "with discrete Gaussians"
         : !isSyN                                                 ? ""
         : settings.similarity.kind != SimilarityKind::NeighborhoodCorrelation
           ? who + "by the correlation over neighborhoods"
         : ListWeighedPairs(problem, settings, FirstPair::IsKept).size() > 1 ? who + "one pair of images"
         : devices % 2 != 0 ? who + "if their number is even, since half of them move one image each"
                            : "";
}
} // namespace

TeamRegistration::Usable
TeamRegistration::CountUsable(const DiffeomorphicProblem &  problem,
                              const DiffeomorphicSettings & settings,
                              std::size_t                   devices)
{
  Usable usable{ devices, FindUnsupported(problem, settings, devices) };
  while (!FindUnsupported(problem, settings, usable.devices).empty())
  {
    --usable.devices;
  }
  return usable;
}

void
CheckIsForTeams(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, std::size_t devices)
{
  const TeamRegistration::Usable usable = TeamRegistration::CountUsable(problem, settings, devices);
  if (usable.devices < devices)
  {
    throw UnsupportedError(usable.reason + "; take " +
                           (usable.devices == 1 ? "one device" : std::to_string(usable.devices) + " devices"));
  }
}

void
CheckAreAlike(const DiffeomorphicProblem & a, const DiffeomorphicProblem & b)
{
  const auto areAlike = [](const RegisteredImage & one, const RegisteredImage & other) {
    return one.size == other.size && one.indexToPoint.matrix == other.indexToPoint.matrix &&
           one.indexToPoint.offset == other.indexToPoint.offset && (one.mask == nullptr) == (other.mask == nullptr);
  };
  bool pairsAreAlike = a.dimension == b.dimension && areAlike(a.fixed, b.fixed) && areAlike(a.moving, b.moving) &&
                       a.further.size() == b.further.size() && a.fixedState.has_value() == b.fixedState.has_value();
  for (std::size_t n = 0; pairsAreAlike && n < a.further.size(); ++n)
  {
    const FurtherPair & one = a.further[n];
    const FurtherPair & other = b.further[n];
    pairsAreAlike = areAlike(one.fixed, other.fixed) && areAlike(one.moving, other.moving) &&
                    one.similarity == other.similarity && one.weight == other.weight &&
                    one.fixedRange == other.fixedRange && one.movingRange == other.movingRange;
  }
  if (!pairsAreAlike)
  {
    throw BadInputError(
      "devices that register together have problems whose images, masks or pairs differ: give each the same");
  }
}

} // namespace gpureg
