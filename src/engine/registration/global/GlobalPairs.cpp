// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalPairs.h"

#include "engine/filter/LevelGeometry.h"

namespace gpureg
{

std::vector<FurtherPair>
ListPairs(const GlobalProblem & problem, const GlobalSettings & settings)
{
  std::vector<FurtherPair> pairs;
  pairs.push_back({ problem.fixed,
                    problem.moving,
                    { settings.cost, settings.bins, settings.radius },
                    1.0,
                    settings.fixedRange,
                    settings.movingRange });
  pairs.insert(pairs.end(), problem.further.begin(), problem.further.end());
  return pairs;
}

double
ComputeFinestEdge(const std::vector<FurtherPair> & pairs, int dimension, const GlobalSettings & settings)
{
  if (settings.finestEdge > 0)
  {
    return settings.finestEdge;
  }
  std::vector<RegisteredImage> images;
  for (const FurtherPair & pair : pairs)
  {
    images.push_back(pair.fixed);
    images.push_back(pair.moving);
  }
  return ComputeUsualEdge(images, dimension);
}

} // namespace gpureg
