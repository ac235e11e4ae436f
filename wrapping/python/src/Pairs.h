// SPDX-License-Identifier: Apache-2.0
// Holds the pairs of images that a registration compares beside the first one.
#ifndef gpureg_python_Pairs_h
#define gpureg_python_Pairs_h

#include "Side.h"

#include "gpureg/registration/FurtherPair.h"

#include <optional>
#include <vector>

namespace gpureg
{
namespace python
{

/** Holds a pair beside the first one for Python. TSide: Side, which keeps its image on the device, or PlannedSide. */
template <typename TSide>
struct PairOf
{
  TSide              fixed;
  TSide              moving;
  SimilaritySettings similarity;
  double             weight;
  // Without a value, the range in the method's settings is used.
  std::optional<ValueRange> fixedRange;
  std::optional<ValueRange> movingRange;
};

/** Returns a registration's problem of all pairs. */
template <typename TProblem, typename TSide>
TProblem
MakeProblemOfPairs(int dimension, const TSide & fixed, const TSide & moving, const std::vector<PairOf<TSide>> & further)
{
  auto problem = MakeProblem<TProblem>(dimension, fixed, moving);
  for (const PairOf<TSide> & pair : further)
  {
    problem.further.push_back(
      { pair.fixed.Get(), pair.moving.Get(), pair.similarity, pair.weight, pair.fixedRange, pair.movingRange });
  }
  return problem;
}

} // namespace python
} // namespace gpureg

#endif
