// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SimilarityPasses_h
#define gpureg_SimilarityPasses_h

#include "SampleArrays.h"

#include "ValuePairs.h"
#include "SimilaritySums.h"

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

} // namespace gpureg

#endif
