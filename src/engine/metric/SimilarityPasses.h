// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SimilarityPasses_h
#define gpureg_SimilarityPasses_h

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/ValuePairs.h"
#include "kernels/metric/SimilaritySums.h"
#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** What makes a similarity of sums, on one device. src/host, cuda and opencl each have it in a file of this name. */
class SimilarityPasses
{
public:
  virtual ~SimilarityPasses() = default;

  /** partials: float, as kernels::SimilaritySums says; evaluated: float [EvaluatedNumbers]. */
  virtual void
  Find(const kernels::SimilaritySums & a, const Memory & partials, Memory & evaluated) = 0;
};

GPUREG_DECLARE_PASSES(SimilarityPasses);

} // namespace gpureg

#endif
