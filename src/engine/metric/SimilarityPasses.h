// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SimilarityPasses_h
#define gpureg_SimilarityPasses_h

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/ValuePairs.h"
#include "kernels/metric/SimilaritySums.h"
#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** Computes a similarity from sums, on one device. Files of this name implement it: src/host for the host, src/engine for all other
 *  devices. */
class SimilarityPasses
{
public:
  virtual ~SimilarityPasses() = default;

  /** Computes the similarity. partials: float, as kernels::SimilaritySums describes; evaluated: float[EvaluatedNumbers]. */
  virtual void
  Find(const kernels::SimilaritySums & a, const Memory & partials, Memory & evaluated) = 0;
};

GPUREG_DECLARE_PASSES(SimilarityPasses);

} // namespace gpureg

#endif
