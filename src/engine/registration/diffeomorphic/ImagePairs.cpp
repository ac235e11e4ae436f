// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/ImagePairs.h"

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
  const std::vector<FurtherPair> pairs = ListPairs(problem, settings);
  std::vector<WeighedPair>       weighed;
  double                         sum = 0;
  for (std::size_t number = 0; number < pairs.size(); ++number)
  {
    sum += pairs[number].weight;
    if (pairs[number].weight > 0 || (number == 0 && first == FirstPair::IsKept))
    {
      weighed.push_back({ pairs[number], number });
    }
  }
  for (WeighedPair & one : weighed)
  {
    one.pair.weight /= sum;
  }
  return weighed;
}

std::string
NamePair(std::size_t number)
{
  return number == 0 ? "" : "pair " + std::to_string(number + 1) + ": ";
}

} // namespace gpureg
