// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CorrelationRatioSchemePasses_h
#define gpureg_CorrelationRatioSchemePasses_h

#include "engine/metric/histogram/CorrelationRatioPasses.h"
#include "engine/metric/histogram/SortedSamples.h"

#include "gpureg/metric/histogram/CorrelationRatioScheme.h"
#include "engine/runtime/MakePasses.h"

namespace gpureg
{

/** What the schemes of the correlation ratio's first pass read and write besides HistogramArrays. */
struct SchemeArrays
{
  SortedSamples sorted;
  /** kernels::Workload, one a group. */
  MemoryPointer workloads;
  int           workloadCount = 0;
  /** u32 [bins + 1]: each bin's first workload. */
  MemoryPointer firstWorkloads;
  /** u64 [workloads][columns]. */
  MemoryPointer sumsOfWorkloads;
};

/** A scheme's first pass as it is launched. */
struct SchemeLaunch
{
  /** Of samples that are cut into chunks for its lanes. */
  kernels::CorrelationRatioArguments arguments;
  kernels::SampleMaps                maps;
  /** At most so many groups, which do several chunks then; neither is 0. */
  LaunchShape shape;
};

/** The first pass of the correlation ratio by the schemes, on one device; by SharedMerge where its launch is not the one that all
 *  metrics have. cuda and opencl each have them, in a file of this name; the host, whose one loop is HistogramPasses', has not. */
class CorrelationRatioSchemePasses
{
public:
  using Arguments = kernels::CorrelationRatioArguments;

  virtual ~CorrelationRatioSchemePasses() = default;

  /** Compiles or loads what the variant needs, so that no evaluation does. */
  virtual void
  Prepare(int variant) = 0;

  /** Lanes of a scheme's groups, if so many are set; 0: none.
   *  \throws UnsupportedError if the device does not have them. */
  virtual int
  ChooseLanes(CorrelationRatioScheme scheme, int set) const = 0;

  /** Sorts so many samples by their fixed bins; fewer than 2^32. Waits for the device. */
  virtual void
  Sort(const MemoryPointer & fixedBins, std::int64_t count, int bins, SortedSamples & sorted) = 0;

  /** sums = 0, for the schemes that add to it. */
  virtual void
  Clear(const Arguments & a, const HistogramArrays & arrays) = 0;

  /** Over the chunks firstChunk … + chunkCount - 1. GlobalAtomic, SharedAtomic: sums += what they count. GlobalMerge,
   *  SharedMerge, SharedWarp: chunkHistograms[chunk - firstChunk]. */
  virtual void
  Count(CorrelationRatioScheme  scheme,
        const SchemeLaunch &    launch,
        const HistogramArrays & arrays,
        int                     firstChunk,
        int                     chunkCount) = 0;

  /** ConflictFree: sums, from the workloads, a group for each. */
  virtual void
  CountWorkloads(const SchemeLaunch & launch, const HistogramArrays & arrays, const SchemeArrays & schemes) = 0;
};

GPUREG_DECLARE_PASSES(CorrelationRatioSchemePasses);

} // namespace gpureg

#endif
