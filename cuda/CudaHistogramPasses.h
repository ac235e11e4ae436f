// SPDX-License-Identifier: Apache-2.0
// The two passes of every metric that has a histogram in CUDA: entry points and launches. What a group does is in
// src/kernels/HistogramKernels.h; the plain version is src/host/HostHistogramPasses.h. To be included by .cu files, each of
// which is compiled for its metric.
#ifndef gpureg_CudaHistogramPasses_h
#define gpureg_CudaHistogramPasses_h

#include "CudaQueue.h"

#include "HistogramPasses.h"

#include "ForceKernels.h"
#include "HistogramKernels.h"

#include <algorithm>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
// Measured on an H200 over 181×217×181 voxels: 4 blocks of 512 a multiprocessor for the histogram, which
// waits for memory; 2 for the forces, whose eight 16-byte loads want registers. As many chunks as the
// histogram has blocks at once.
constexpr int Lanes = 512;
constexpr int HistogramBlocks = 4;
constexpr int ForceBlocks = 2;
constexpr int PreciseBlocks = 2;
constexpr int TargetChunks = 528;
constexpr int SumLanes = 1024;

// Kernels are compiled for the plain case over a grid, …
constexpr int PlainVariant = ReadsQuads;
// … over points, …
constexpr int PlainPointsVariant = SamplesArePrecise | SamplesArePoints;
// … and, looking the rest of their variant up at run time, for all that are not precise (points always are), …
constexpr int AnyVariant = -1;
// … and all that are, whose integers take more registers. …
constexpr int PreciseVariant = -2;
// … A metric that weighs the border has two more: the plain case with that, and all that are not precise.
constexpr int PlainBorderVariant = ReadsQuads | WeighsBorder;
constexpr int BorderVariant = -3;

template <typename TArguments>
constexpr bool HasBorderWeights = std::is_same<TArguments, CorrelationRatioArguments>::value;

template <int VVariant>
__device__ __forceinline__ int
VariantOf(const HistogramArguments & a)
{
  return VVariant == PreciseVariant  ? a.samples.variant | SamplesArePrecise
         : VVariant == AnyVariant    ? a.samples.variant & ~(SamplesArePrecise | SamplesArePoints | WeighsBorder)
         : VVariant == BorderVariant ? (a.samples.variant & ~(SamplesArePrecise | SamplesArePoints)) | WeighsBorder
                                     : VVariant;
}

/** Calls work with the one of them that a variant belongs to. */
template <typename TArguments, typename TWork>
void
WithVariant(int variant, const TWork & work)
{
  if constexpr (HasBorderWeights<TArguments>)
  {
    if (variant == PlainBorderVariant)
    {
      work(std::integral_constant<int, PlainBorderVariant>{});
      return;
    }
    if ((variant & WeighsBorder) && !(variant & SamplesArePrecise))
    {
      work(std::integral_constant<int, BorderVariant>{});
      return;
    }
  }
  if (variant == PlainVariant)
  {
    work(std::integral_constant<int, PlainVariant>{});
  }
  else if (variant == PlainPointsVariant)
  {
    work(std::integral_constant<int, PlainPointsVariant>{});
  }
  else if (variant & SamplesArePrecise)
  {
    work(std::integral_constant<int, PreciseVariant>{});
  }
  else
  {
    work(std::integral_constant<int, AnyVariant>{});
  }
}

/** Calls work with each of them. */
template <typename TArguments, typename TWork>
void
WithEachVariant(const TWork & work)
{
  for (const int variant : { PlainVariant, PlainPointsVariant, 0, int{ SamplesArePrecise } })
  {
    WithVariant<TArguments>(variant, work);
  }
  if constexpr (HasBorderWeights<TArguments>)
  {
    WithVariant<TArguments>(PlainBorderVariant, work);
    WithVariant<TArguments>(WeighsBorder, work);
  }
}

constexpr int
BlocksOfHistogram(int variant)
{
  return variant == PreciseVariant || variant == PlainPointsVariant ? PreciseBlocks : HistogramBlocks;
}

extern __shared__ u64 localMemory[];

template <int VVariant, typename TArguments>
__global__ void
__launch_bounds__(Lanes, BlocksOfHistogram(VVariant)) HistogramKernel(const __grid_constant__ TArguments a,
                                                                      const SampleVolumes                v,
                                                                      int                                firstChunk,
                                                                      u32 * chunkHistograms,
                                                                      const __grid_constant__ SampleMaps maps)
{
  HistogramGroup(
    VariantOf<VVariant>(a.histogram), &a, &maps, &v, firstChunk, reinterpret_cast<u32 *>(localMemory), chunkHistograms);
}

template <bool VCountsHalves, typename TArguments>
__global__ void
__launch_bounds__(SumLanes) SumHistogramsKernel(
  const __grid_constant__ TArguments a, int chunkCount, int accumulate, const u32 * chunkHistograms, u64 * histogram)
{
  SumHistogramsGroup(
    VCountsHalves ? SamplesArePrecise : 0, &a, chunkCount, accumulate, chunkHistograms, localMemory, histogram);
}

template <int VVariant, typename TArguments>
__global__ void
__launch_bounds__(Lanes, ForceBlocks) ForceKernel(const __grid_constant__ TArguments a,
                                                  const SampleVolumes                v,
                                                  const void *                       table,
                                                  float *                            partials,
                                                  float *                            forces,
                                                  const __grid_constant__ SampleMaps maps)
{
  ForceGroup(VariantOf<VVariant>(a.histogram),
             &a,
             &maps,
             &v,
             0,
             table,
             reinterpret_cast<float *>(localMemory),
             partials,
             forces);
}

inline SampleVolumes
GetVolumes(const HistogramArrays & arrays)
{
  return MakeSampleVolumes(*arrays.samples, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

template <typename TArguments>
class CudaHistogramPasses : public HistogramPasses<TArguments>
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
      AllowLocalMemory(ForceKernel<constant.value, TArguments>);
    });
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
    WithVariant<TArguments>(a.histogram.samples.variant, [&](auto variant) {
      m_Queue.Launch("counting the histogram",
                     HistogramKernel<variant.value, TArguments>,
                     GetGroups(a, chunkCount),
                     Lanes,
                     GetBandBytes(a.histogram) * a.histogram.histogramCopies,
                     a,
                     GetVolumes(arrays),
                     firstChunk,
                     AddressOf<u32>(arrays.chunkHistograms),
                     maps);
    });
  }

  void
  SumHistograms(const TArguments & a, const HistogramArrays & arrays, int chunkCount, bool accumulate) override
  {
    const int cells = static_cast<int>(CountCells(a.histogram));
    m_Queue.Launch("summing the histogram",
                   CountsHalves(a.histogram.samples.variant) ? SumHistogramsKernel<true, TArguments>
                                                             : SumHistogramsKernel<false, TArguments>,
                   dim3(static_cast<unsigned int>((cells + SumCellsPerGroup - 1) / SumCellsPerGroup)),
                   SumLanes,
                   SumLanes * sizeof(u64),
                   a,
                   chunkCount,
                   static_cast<int>(accumulate),
                   AddressOf<u32>(arrays.chunkHistograms),
                   AddressOf<u64>(arrays.sums));
  }

  void
  FindForces(const TArguments & a, const SampleMaps & maps, const HistogramArrays & arrays) override
  {
    WithVariant<TArguments>(a.histogram.samples.variant, [&](auto variant) {
      m_Queue.Launch("summing the derivative's forces",
                     ForceKernel<variant.value, TArguments>,
                     GetGroups(a, ChunkCount(&a.histogram.samples)),
                     Lanes,
                     std::max(GetTableBandBytes(a.histogram),
                              PartialCount(a.histogram.samples.variant) * Lanes * sizeof(float)),
                     a,
                     GetVolumes(arrays),
                     AddressOf<char>(arrays.table),
                     reinterpret_cast<float *>(AddressOf<u64>(arrays.sums) + CountCells(a.histogram)),
                     AddressOf<float>(arrays.forces),
                     maps);
    });
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
