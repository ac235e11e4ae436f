// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MattesPasses_h
#define gpureg_MattesPasses_h

#include "SampleArrays.h"

#include "MattesSample.h"
#include "MattesPrecise.h"
#include "MattesTable.h"

namespace gpureg
{

/** The arrays of an evaluation; null where the variant has none. */
struct MattesArrays
{
  const SampleArrays * samples = nullptr;
  /** u32 [chunks of a launch][CountersPerCell][bins][bins]. */
  MemoryPointer chunkHistograms;
  /** u64 [bins][bins], and behind it the float partials [chunks][bands][PartialCount]: one copy brings both. */
  MemoryPointer sums;
  /** float, or i64 where the variant is precise, [bins][bins]. */
  MemoryPointer table;
  /** float[3], one a sample. */
  MemoryPointer forces;
};

/** The operations of the two passes on one device. src/host, cuda and opencl each have them, by these names, in a file of
 *  this name. */
class MattesPasses
{
public:
  virtual ~MattesPasses() = default;

  virtual SampleGrain
  GetGrain() const = 0;

  /** Compiles or loads what the variant needs, so that no evaluation does. */
  virtual void
  Prepare(int variant) = 0;

  /** Pass 1 over the chunks firstChunk … + chunkCount - 1: chunkHistograms[chunk - firstChunk]. */
  virtual void
  Histogram(const kernels::MattesArguments & a,
            const kernels::SampleMaps &      maps,
            const MattesArrays &             arrays,
            int                              firstChunk,
            int                              chunkCount) = 0;

  /** sums (+)= the histograms of so many chunks. */
  virtual void
  SumHistograms(const kernels::MattesArguments & a, const MattesArrays & arrays, int chunkCount, bool accumulate) = 0;

  /** sums → table. */
  virtual void
  Table(const kernels::MattesArguments & a, const MattesArrays & arrays) = 0;

  /** Pass 2 over every chunk: partials behind the sums, or forces. */
  virtual void
  FindForces(const kernels::MattesArguments & a, const kernels::SampleMaps & maps, const MattesArrays & arrays) = 0;
};

} // namespace gpureg

#endif
