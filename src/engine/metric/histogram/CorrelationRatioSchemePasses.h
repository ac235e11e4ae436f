// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioSchemePasses_h
#define gpureg_CorrelationRatioSchemePasses_h

#include "engine/metric/histogram/CorrelationRatioPasses.h"
#include "engine/metric/histogram/SortedSamples.h"

#include "gpureg/metric/histogram/CorrelationRatioScheme.h"
#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** The arrays that the schemes of the correlation ratio's first pass use in addition to HistogramArrays. */
struct SchemeArrays
{
  SortedSamples sorted;
  /** kernels::Workload, one per group. */
  MemoryPointer workloads;
  int           workloadCount = 0;
  /** u32[bins + 1]: the first workload of each bin. */
  MemoryPointer firstWorkloads;
  /** u64[workloads][columns]. */
  MemoryPointer sumsOfWorkloads;
};

/** The launch of a scheme's first pass. */
struct SchemeLaunch
{
  /** The arguments of samples that are cut into chunks for the launch's lanes. */
  kernels::CorrelationRatioArguments arguments;
  kernels::SampleMaps                maps;
  /** The most groups, which process several chunks each if there are fewer groups than chunks, and their lanes; neither is 0. */
  LaunchShape shape;
};

/** The first pass of the correlation ratio by each scheme, on one device; by SharedMerge only where its launch differs from that of all
 *  metrics. cuda and opencl each implement the passes in a file of this name. The host has no such passes, because all schemes run the loop
 *  of HistogramPasses there. */
class CorrelationRatioSchemePasses
{
public:
  using Arguments = kernels::CorrelationRatioArguments;

  virtual ~CorrelationRatioSchemePasses() = default;

  /** Compiles or loads the kernels of a variant, so that evaluations do not. */
  virtual void
  Prepare(int variant) = 0;

  /** Returns the number of lanes of a scheme's groups. \param set the lanes that the caller wants, or 0
   *  \throws UnsupportedError if the device does not support them */
  virtual int
  ChooseLanes(CorrelationRatioScheme scheme, int set) const = 0;

  /** Sorts count samples, fewer than 2^32, by their fixed bins. Waits for the device. */
  virtual void
  Sort(const MemoryPointer & fixedBins, std::int64_t count, int bins, SortedSamples & sorted) = 0;

  /** Sets the sums to 0, for the schemes that add to them. */
  virtual void
  Clear(const Arguments & a, const HistogramArrays & arrays) = 0;

  /** Counts the chunks firstChunk … firstChunk + chunkCount - 1. GlobalAtomic and SharedAtomic add the counts to the sums. GlobalMerge,
   *  SharedMerge and SharedWarp write chunkHistograms[chunk - firstChunk]. */
  virtual void
  Count(CorrelationRatioScheme  scheme,
        const SchemeLaunch &    launch,
        const HistogramArrays & arrays,
        int                     firstChunk,
        int                     chunkCount) = 0;

  /** Computes the sums from the workloads, with one group per workload, for ConflictFree. */
  virtual void
  CountWorkloads(const SchemeLaunch & launch, const HistogramArrays & arrays, const SchemeArrays & schemes) = 0;
};

GPUREG_DECLARE_PASSES(CorrelationRatioSchemePasses);

} // namespace gpureg

#endif
