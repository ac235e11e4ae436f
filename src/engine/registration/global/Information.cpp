// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/Information.h"

#include <cmath>

namespace gpureg
{

Information
ComputeInformation(SimilarityKind kind, double cost, double unrelated)
{
  // The share of the values' variance by which equal images are taken to differ, as resampled ones do. The logarithm of less would hide all
  // other pairs, and has valleys too sharp for a search.
  constexpr double least = 1e-3;
  // A multiple of the logarithm of a cost's share of that of unrelated images.
  const auto find = [](double multiple, double share, double slope) {
    return Information{ multiple * std::log(share + least), multiple * slope / (share + least) };
  };
  switch (kind)
  {
    case SimilarityKind::MeanSquares:
      return find(0.5, cost / unrelated, 1 / unrelated);
    case SimilarityKind::MeanAbsoluteDifferences:
      return find(1.0, cost / unrelated, 1 / unrelated);
    case SimilarityKind::Correlation:
    case SimilarityKind::NeighborhoodCorrelation:
      return find(0.5, 1 + cost, 1);
    case SimilarityKind::CorrelationRatio:
      return find(0.5, cost, 1);
    default:
      return { cost - unrelated, 1 };
  }
}

} // namespace gpureg
