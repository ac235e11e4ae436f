// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PairPasses_h
#define gpureg_PairPasses_h

#include "engine/metric/Batch.h"
#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/ValuePairs.h"
#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** The arrays of an evaluation; null where the variant has none. */
struct PairArrays
{
  const SampleArrays * samples = nullptr;
  /** float [chunks][PairPartialCount]. */
  MemoryPointer partials;
  /** float[3], one a sample: what SampleSet::ReserveForces has given. */
  Memory * forces = nullptr;
  /** float [EvaluatedNumbers]: what SimilarityPasses have made of the partials. */
  MemoryPointer evaluated;
};

/** The one pass of the metrics that are sums over pairs of values, on one device. src/host, cuda and opencl each have it in a
 *  file of this name. */
class PairPasses
{
public:
  virtual ~PairPasses() = default;

  virtual SampleGrain
  GetGrain() const = 0;

  /** Compiles or loads what a variant and a task need, so that no evaluation does. */
  virtual void
  Prepare(int variant, int task) = 0;

  /** Over every chunk: partials, and forces. */
  virtual void
  SumPairs(const kernels::PairArguments & a, const kernels::SampleMaps & maps, const PairArrays & arrays) = 0;

  /** Whether there is SumBatch. */
  virtual bool
  HasBatches() const
  {
    return false;
  }

  /** The sums of some of a batch's candidates, without forces: partials of one after the other. */
  virtual void
  SumBatch(const kernels::PairArguments &, BatchRange, const PairArrays &, const BatchArrays &)
  {}
};

GPUREG_DECLARE_PASSES(PairPasses);

} // namespace gpureg

#endif
