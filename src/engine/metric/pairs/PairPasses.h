// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_PairPasses_h
#define gpureg_PairPasses_h

#include "engine/metric/Batch.h"
#include "engine/metric/samples/SampleArrays.h"

#include "kernels/metric/ValuePairs.h"
#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** The arrays of an evaluation. An array that the variant does not need is null. */
struct PairArrays
{
  const SampleArrays * samples = nullptr;
  /** float[chunks][PairPartialCount]. */
  MemoryPointer partials;
  /** float[3], one per sample; SampleForces::Write() sets it while a pass is enqueued. */
  Memory * forces = nullptr;
  /** float[EvaluatedNumbers]: what SimilarityPasses computed from the partials. */
  MemoryPointer evaluated;
};

/** The pass of the metrics that are sums over pairs of values, on one device. Files of this name implement it: src/host for the host,
 *  src/engine for all other devices. */
class PairPasses
{
public:
  virtual ~PairPasses() = default;

  virtual SampleGrain
  GetGrain() const = 0;

  /** Compiles or loads the kernels of a variant and a task, so that evaluations do not. */
  virtual void
  Prepare(int variant, int task) = 0;

  /** Computes the partials of every chunk, and the forces. */
  virtual void
  SumPairs(const kernels::PairArguments & a, const kernels::SampleMaps & maps, const PairArrays & arrays) = 0;

  /** Returns true if the device has SumBatch(). */
  virtual bool
  HasBatches() const
  {
    return false;
  }

  /** Computes the partials of a range of candidates, one candidate after another, without forces. */
  virtual void
  SumBatch(const kernels::PairArguments &, BatchRange, const PairArrays &, const BatchArrays &)
  {}
};

GPUREG_DECLARE_PASSES(PairPasses);

} // namespace gpureg

#endif
