// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormPairs.h"

#include "engine/registration/free_form/FreeFormChecks.h"

namespace gpureg
{

std::vector<FurtherPair>
ListPairs(const FreeFormProblem & problem, const FreeFormSettings & settings)
{
  std::vector<FurtherPair> pairs;
  pairs.push_back(
    { problem.fixed, problem.moving, GetSimilarity(settings), 1.0, settings.fixedRange, settings.movingRange });
  pairs.insert(pairs.end(), problem.further.begin(), problem.further.end());
  return pairs;
}

std::vector<WeighedPair>
ListWeighedPairs(const FreeFormProblem & problem, const FreeFormSettings & settings)
{
  return WeighPairs(ListPairs(problem, settings), FirstPair::IsKept);
}

std::vector<SimilaritySettings>
ListFurtherSimilarities(const FreeFormProblem & problem, const FreeFormSettings & settings)
{
  const std::vector<WeighedPair>  pairs = ListWeighedPairs(problem, settings);
  std::vector<SimilaritySettings> similarities;
  for (auto pair = pairs.begin() + 1; pair != pairs.end(); ++pair)
  {
    similarities.push_back(pair->pair.similarity);
  }
  return similarities;
}

} // namespace gpureg
