// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"

namespace gpureg
{

std::vector<FurtherPair>
ListPairs(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings)
{
  std::vector<FurtherPair> pairs;
  pairs.push_back(
    { problem.fixed, problem.moving, settings.similarity, settings.weight, settings.fixedRange, settings.movingRange });
  pairs.insert(pairs.end(), problem.further.begin(), problem.further.end());
  return pairs;
}

std::vector<WeighedPair>
ListWeighedPairs(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, FirstPair first)
{
  return WeighPairs(ListPairs(problem, settings), first);
}

} // namespace gpureg
