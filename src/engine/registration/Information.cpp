// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/Information.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gpureg
{

namespace
{
/** Returns the mean cost of pairs of each voxel with one that is far away: a prime step makes the order of the moving values arbitrary. */
template <typename TCost>
double
AverageUnrelated(const std::vector<double> & fixed, const std::vector<double> & moving, const TCost & costOfDifference)
{
  constexpr std::size_t step = 7919;
  double                sum = 0;
  for (std::size_t n = 0; n < fixed.size(); ++n)
  {
    sum += costOfDifference(std::abs(fixed[n] - moving[(n + 1) * step % moving.size()]));
  }
  return sum / static_cast<double>(fixed.size());
}
} // namespace

double
ComputeUnrelatedCost(SimilarityKind kind, const std::vector<double> & fixed, const std::vector<double> & moving)
{
  const double unrelated = Describe(kind).unrelatedCost;
  if (!std::isnan(unrelated))
  {
    return unrelated;
  }
  const auto bounds = [](const std::vector<double> & values) {
    const auto both = std::minmax_element(values.begin(), values.end());
    return std::make_pair(*both.first, *both.second);
  };
  const auto   ofFixed = bounds(fixed);
  const auto   ofMoving = bounds(moving);
  const double range = std::max(ofFixed.second, ofMoving.second) - std::min(ofFixed.first, ofMoving.first);
  return AverageUnrelated(fixed, moving, [kind, range](double difference) {
    const double share = difference / range;
    return kind == SimilarityKind::MeanSquares ? share * share : share;
  });
}

double
ComputeUnrelatedSquare(const std::vector<double> & fixed, const std::vector<double> & moving)
{
  return AverageUnrelated(fixed, moving, [](double difference) { return difference * difference; });
}

InformationTerms
GetInformationTerms(SimilarityKind kind, double unrelated)
{
  switch (kind)
  {
    case SimilarityKind::MeanSquares:
      return { true, 0.5, 0, unrelated };
    case SimilarityKind::MeanAbsoluteDifferences:
      return { true, 1.0, 0, unrelated };
    case SimilarityKind::Correlation:
    case SimilarityKind::NeighborhoodCorrelation:
      return { true, 0.5, 1 };
    case SimilarityKind::CorrelationRatio:
      return { true, 0.5 };
    default:
      return {};
  }
}

Information
ComputeInformation(SimilarityKind kind, double cost, double unrelated)
{
  const InformationTerms terms = GetInformationTerms(kind, unrelated);
  if (!terms.hasLogarithm)
  {
    return { cost - unrelated, 1 };
  }
  const double share = terms.base + cost / terms.unit + terms.rest;
  return { terms.multiple * std::log(share), terms.multiple * (1 / terms.unit) / share };
}

} // namespace gpureg
