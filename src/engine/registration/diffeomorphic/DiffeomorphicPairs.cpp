// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"

#include "gpureg/core/Error.h"

#include <algorithm>

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

int
FindLargestRadius(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings)
{
  int radius = 0;
  for (const WeighedPair & pair : ListWeighedPairs(problem, settings))
  {
    const SimilaritySettings & its = pair.pair.similarity;
    radius = Describe(its.kind).HasNeighborhoods() ? std::max(radius, its.radius) : radius;
  }
  return radius;
}

bool
BeginsDeformed(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const auto first = settings.iterations.begin();
  return problem.fixedState || std::any_of(first, first + number, [](int iterations) { return iterations > 0; });
}

const char *
FindRemedyOfNoOverlap(bool areDeformed)
{
  return areDeformed ? "the deformation has moved the images apart: take a shorter step, smooth the field more, or "
                       "give an axis of few "
                       "voxels a weight of 0"
                     : "begin with a transform that brings them together";
}

void
ThrowNoOverlap(std::size_t pair, bool areDeformed)
{
  throw BadInputError(
    NamePair(pair) +
    "no voxel of the fixed image is mapped into the moving image, or all of them are outside of a mask, or, for a "
    "similarity with bins, an image is constant where both are: " +
    FindRemedyOfNoOverlap(areDeformed));
}

} // namespace gpureg
