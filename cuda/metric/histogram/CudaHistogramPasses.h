// SPDX-License-Identifier: Apache-2.0
// The two passes of every metric that has a histogram in CUDA: entry points and launches. src/kernels/metric/histogram/HistogramKernels.h
// has the work of a group; the plain version is src/host/metric/histogram/HostHistogramPasses.h. For inclusion by .cu files, each of which
// is compiled for its own metric.
#ifndef gpureg_CudaHistogramPasses_h
#define gpureg_CudaHistogramPasses_h

#include "cuda/metric/samples/CudaSamples.h"

#include "engine/metric/histogram/HistogramPasses.h"

#include "kernels/core/LaneSum.h"
#include "kernels/metric/histogram/WindowCount.h"
#include "kernels/metric/histogram/HistogramKernels.h"
#include "kernels/metric/histogram/HistogramBatchKernels.h"
#include "kernels/metric/histogram/HistogramSummaryKernels.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int SumLanes = 1024;
// The lanes of a group in a batch, whose candidates have few chunks each.
constexpr int BatchLanes = 128;

constexpr int
BlocksOfHistogram(int variant)
{
  return IsChained(variant) ? ChainedValueBlocks : IsFixedPoint(variant) ? FixedPointBlocks : ValueBlocks;
}

/** Returns the number of blocks on a multiprocessor: two loads of quads need fewer registers than eight loads of gradients. */
constexpr int
BlocksOfForces(int variant)
{
  return IsChained(variant) ? ChainedForceBlocks : variant == SlopeForceVariant ? SlopeBlocks : ForceBlocks;
}

template <int VVariant, typename TArguments>
__global__ void
__launch_bounds__(Lanes, BlocksOfHistogram(VVariant)) HistogramKernel(const __grid_constant__ TArguments a,
                                                                      const SampleVolumes                v,
                                                                      int                                firstChunk,
                                                                      u32 * chunkHistograms,
                                                                      const __grid_constant__ SampleMaps maps)
{
  HistogramGroup(VariantOf<VVariant>(a.histogram.samples),
                 &a,
                 &maps,
                 &v,
                 firstChunk + GroupIndex(),
                 GroupIndex(),
                 reinterpret_cast<u32 *>(localMemory),
                 chunkHistograms);
}

template <bool VCountsHalves, typename TArguments>
__global__ void
__launch_bounds__(SumLanes) SumHistogramsKernel(
  const __grid_constant__ TArguments a, int chunkCount, int accumulate, const u32 * chunkHistograms, u64 * histogram)
{
  SumHistogramsGroup(VCountsHalves ? SamplesAreFixedPoint : 0,
                     &a,
                     LeastSumEntries,
                     GroupIndex(),
                     chunkCount,
                     accumulate,
                     chunkHistograms,
                     localMemory,
                     histogram);
}

template <int VVariant, typename TArguments>
__global__ void
__launch_bounds__(Lanes, BlocksOfHistogram(VVariant)) BatchHistogramKernel(const __grid_constant__ TArguments a,
                                                                           const SampleVolumes                v,
                                                                           const SampleMaps *                 batch,
                                                                           int   firstCandidate,
                                                                           u32 * chunkHistograms)
{
  BatchHistogramGroup(VariantOf<VVariant>(a.histogram.samples),
                      &a,
                      batch,
                      firstCandidate,
                      &v,
                      reinterpret_cast<u32 *>(localMemory),
                      chunkHistograms);
}

template <bool VCountsHalves, typename TArguments>
__global__ void
__launch_bounds__(BatchLanes)
  BatchSumKernel(const __grid_constant__ TArguments a, const u32 * chunkHistograms, u64 * histograms)
{
  BatchSumGroup(VCountsHalves ? SamplesAreFixedPoint : 0, &a, chunkHistograms, localMemory, histograms);
}

template <typename TSummaryArguments>
__global__ void
__launch_bounds__(BatchLanes) BatchSummaryKernel(const __grid_constant__ TSummaryArguments a,
                                                 int                                       firstCandidate,
                                                 const u64 *                               histograms,
                                                 i64 *                                     summaries)
{
  BatchSummaryGroup(0, &a, firstCandidate, histograms, localMemory, summaries);
}

template <int VVariant, typename TArguments>
__global__ void
__launch_bounds__(Lanes, BlocksOfForces(VVariant)) ForceKernel(const __grid_constant__ TArguments a,
                                                               const SampleVolumes                v,
                                                               const void *                       table,
                                                               float *                            partials,
                                                               float *                            forces,
                                                               const __grid_constant__ SampleMaps maps)
{
  ForceGroup(VariantOf<VVariant>(a.histogram.samples),
             &a,
             &maps,
             &v,
             0,
             table,
             reinterpret_cast<float *>(localMemory),
             partials,
             forces);
}

/** \tparam TSummaryArguments see HistogramPasses. */
template <typename TArguments, typename TSummaryArguments = TArguments>
class CudaHistogramPasses : public HistogramPasses<TArguments, TSummaryArguments>
{
public:
  explicit CudaHistogramPasses(CudaQueue & queue)
    : m_Queue(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    CheckCuda(cudaDeviceGetAttribute(&m_LocalBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue.GetDevice()),
              "asking for the size of shared memory",
              queue.GetDeviceName());
    WithEachVariant<TArguments>([this](auto constant) {
      AllowLocalMemory(HistogramKernel<constant.value, TArguments>);
      if constexpr (CanBeBatched(constant.value))
      {
        AllowLocalMemory(BatchHistogramKernel<constant.value, TArguments>);
      }
      AllowLocalMemory(ForceKernel<constant.value, TArguments>);
    });
    AllowLocalMemory(BatchSummaryKernel<TSummaryArguments>);
  }

  SampleGrain
  GetGrain() const override
  {
    return { Lanes, TargetChunks, static_cast<std::size_t>(m_LocalBytes), true };
  }

  void
  Prepare(int) override
  {}

  void
  Histogram(const TArguments &      a,
            const SampleMaps &      maps,
            const HistogramArrays & arrays,
            int                     firstChunk,
            int                     chunkCount) override
  {
    // Gradients are needed in the second pass only: the plain kernel serves these variants, too.
    WithVariant<TArguments>(a.histogram.samples.variant &
                              ~(GradientByDifferences | GradientOfInterpolation | WritesForces),
                            [&](auto variant) {
                              m_Queue.Launch("counting the histogram",
                                             HistogramKernel<variant.value, TArguments>,
                                             GetGroups(a, chunkCount),
                                             Lanes,
                                             GetBandBytes(a.histogram) * a.histogram.histogramCopies,
                                             a,
                                             GetVolumes(*arrays.samples),
                                             firstChunk,
                                             AddressOf<u32>(arrays.chunkHistograms),
                                             maps);
                            });
  }

  void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) override
  {
    m_Queue.Launch("summing the histogram",
                   CountsHalves(a.histogram.samples.variant) ? SumHistogramsKernel<true, TArguments>
                                                             : SumHistogramsKernel<false, TArguments>,
                   dim3(static_cast<unsigned int>(CountSumGroups(&a.histogram, LeastSumEntries))),
                   SumLanes,
                   SumLanes * sizeof(u64),
                   a,
                   chunkCount,
                   static_cast<int>(accumulate),
                   AddressOf<u32>(arrays.chunkHistograms),
                   AddressOf<u64>(arrays.sums));
  }

  void
  ComputeForces(const TArguments & a, const SampleMaps & maps, const HistogramArrays & arrays) override
  {
    WithVariant<TArguments>(a.histogram.samples.variant, [&](auto variant) {
      m_Queue.Launch("summing the derivative's forces",
                     ForceKernel<variant.value, TArguments>,
                     GetGroups(a, ChunkCount(&a.histogram.samples)),
                     Lanes,
                     std::max(GetTableBandBytes(a.histogram),
                              PartialCount(a.histogram.samples.variant) * Lanes * sizeof(float)),
                     a,
                     GetVolumes(*arrays.samples),
                     AddressOf<char>(arrays.table),
                     reinterpret_cast<float *>(AddressOf<u64>(arrays.sums) + CountEntries(a.histogram)),
                     arrays.forces ? AddressIn<float>(*arrays.forces) : nullptr,
                     maps);
    });
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  SumBatch(const TArguments &      a,
           BatchRange              range,
           const HistogramArrays & arrays,
           const Memory &          maps,
           Memory &                histograms) override
  {
    const int variant = a.histogram.samples.variant;
    WithVariant<TArguments>(variant, [&](auto constant) {
      if constexpr (CanBeBatched(constant.value))
      {
        m_Queue.Launch("counting the histograms of a batch",
                       BatchHistogramKernel<constant.value, TArguments>,
                       GetGroups(a, range.count * ChunkCount(&a.histogram.samples)),
                       Lanes,
                       GetBandBytes(a.histogram) * a.histogram.histogramCopies,
                       a,
                       GetVolumes(*arrays.samples),
                       AddressIn<SampleMaps>(maps),
                       range.first,
                       AddressOf<u32>(arrays.chunkHistograms));
      }
    });
    const int sumEntries = SumEntriesOfBatch(ChunkCount(&a.histogram.samples), BatchLanes);
    m_Queue.Launch("summing the histograms of a batch",
                   CountsHalves(variant) ? BatchSumKernel<true, TArguments> : BatchSumKernel<false, TArguments>,
                   dim3(static_cast<unsigned int>(range.count * CountSumGroups(&a.histogram, sumEntries))),
                   BatchLanes,
                   BatchLanes * sizeof(u64),
                   a,
                   AddressOf<u32>(arrays.chunkHistograms),
                   AddressIn<u64>(histograms));
  }

  bool
  HasSummaries(const TSummaryArguments & a) const override
  {
    return this->GetSummaryBytes(a) <= static_cast<std::size_t>(m_LocalBytes);
  }

  void
  Summarize(const TSummaryArguments & a, BatchRange range, const Memory & histograms, Memory & summaries) override
  {
    m_Queue.Launch("summing a batch up",
                   BatchSummaryKernel<TSummaryArguments>,
                   dim3(static_cast<unsigned int>(range.count)),
                   BatchLanes,
                   this->GetSummaryBytes(a),
                   a,
                   range.first,
                   AddressIn<u64>(histograms),
                   AddressIn<i64>(summaries));
  }

protected:
  CudaQueue &
  GetQueue()
  {
    return m_Queue;
  }

  template <typename TKernel>
  void
  AllowLocalMemory(TKernel kernel)
  {
    CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, m_LocalBytes),
              "asking for shared memory",
              m_Queue.GetDeviceName());
  }

private:
  /** Returns the bytes of local memory that SummaryGroup() needs. */
  virtual std::size_t
  GetSummaryBytes(const TSummaryArguments &) const
  {
    return BatchLanes * sizeof(u64);
  }

  static dim3
  GetGroups(const TArguments & a, int chunks)
  {
    return dim3(static_cast<unsigned int>(chunks), static_cast<unsigned int>(CountBands(a.histogram)));
  }

  CudaQueue & m_Queue;
  int         m_LocalBytes = 0;
};
} // namespace

} // namespace gpureg

#endif
