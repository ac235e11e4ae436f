// SPDX-License-Identifier: Apache-2.0
// The two passes of the Mattes histogram in CUDA: entry points and launches. What a group does is in
// src/kernels/MattesKernels.h; the plain version is src/host/MattesPasses.cpp.
#include "CudaQueue.h"

#include "MattesPasses.h"

#include "ForceKernels.h"
#include "MattesKernels.h"

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
constexpr int TableLanes = 1024;

// Kernels are compiled for the plain case over a grid, …
constexpr int PlainVariant = ReadsQuads;
// … over points, …
constexpr int PlainPointsVariant = SamplesArePrecise | SamplesArePoints;
// … and, looking the rest of their variant up at run time, for all that are not precise (points always are), …
constexpr int AnyVariant = -1;
// … and all that are, whose integers take more registers.
constexpr int PreciseVariant = -2;

template <int VVariant>
__device__ __forceinline__ int
VariantOf(const MattesArguments & a)
{
  return VVariant == PreciseVariant ? a.samples.variant | SamplesArePrecise
         : VVariant == AnyVariant   ? a.samples.variant & ~(SamplesArePrecise | SamplesArePoints)
                                    : VVariant;
}

/** Calls work with the one of the four that a variant belongs to. */
template <typename TWork>
void
WithVariant(int variant, const TWork & work)
{
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

constexpr int
BlocksOfHistogram(int variant)
{
  return variant == PreciseVariant || variant == PlainPointsVariant ? PreciseBlocks : HistogramBlocks;
}

extern __shared__ u64 localMemory[];

template <int VVariant>
__global__ void
__launch_bounds__(Lanes, BlocksOfHistogram(VVariant)) HistogramKernel(const __grid_constant__ MattesArguments a,
                                                                      const SampleVolumes                     v,
                                                                      int   firstChunk,
                                                                      u32 * chunkHistograms,
                                                                      const __grid_constant__ SampleMaps maps)
{
  MattesHistogramGroup(
    VariantOf<VVariant>(a), &a, &maps, &v, firstChunk, reinterpret_cast<u32 *>(localMemory), chunkHistograms);
}

template <bool VIsPrecise>
__global__ void
__launch_bounds__(SumLanes)
  SumHistogramsKernel(int cells, int chunkCount, int accumulate, const u32 * chunkHistograms, u64 * histogram)
{
  MattesSumHistogramsGroup(
    VIsPrecise ? SamplesArePrecise : 0, cells, chunkCount, accumulate, chunkHistograms, localMemory, histogram);
}

template <bool VIsPrecise>
__global__ void
__launch_bounds__(TableLanes)
  TableKernel(const __grid_constant__ MattesArguments a, const u64 * histogram, void * table)
{
  float * const scratch = reinterpret_cast<float *>(localMemory);
  MattesTableGroup(VIsPrecise ? SamplesArePrecise : 0, &a, histogram, scratch, scratch + TableLanes, table);
}

template <int VVariant>
__global__ void
__launch_bounds__(Lanes, ForceBlocks) ForceKernel(const __grid_constant__ MattesArguments a,
                                                  const SampleVolumes                     v,
                                                  const void *                            table,
                                                  float *                                 partials,
                                                  float *                                 forces,
                                                  const __grid_constant__ SampleMaps      maps)
{
  MattesForceGroup(
    VariantOf<VVariant>(a), &a, &maps, &v, 0, table, reinterpret_cast<float *>(localMemory), partials, forces);
}

SampleVolumes
GetVolumes(const MattesArrays & arrays)
{
  return MakeSampleVolumes(*arrays.samples, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

class CudaMattesPasses : public MattesPasses
{
public:
  explicit CudaMattesPasses(CudaQueue & queue)
    : m_Queue(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    CheckCuda(cudaDeviceGetAttribute(&m_LocalBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue.GetDevice()),
              "asking for the size of shared memory",
              queue.GetDeviceName());
    for (const int variant : { PlainVariant, PlainPointsVariant, 0, int{ SamplesArePrecise } })
    {
      WithVariant(variant, [this](auto constant) {
        AllowLocalMemory(HistogramKernel<constant.value>);
        AllowLocalMemory(ForceKernel<constant.value>);
      });
    }
    AllowLocalMemory(TableKernel<false>);
    AllowLocalMemory(TableKernel<true>);
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
  Histogram(const MattesArguments & a,
            const SampleMaps &      maps,
            const MattesArrays &    arrays,
            int                     firstChunk,
            int                     chunkCount) override
  {
    WithVariant(a.samples.variant, [&](auto variant) {
      m_Queue.Launch("counting the joint histogram",
                     HistogramKernel<variant.value>,
                     GetGroups(a, chunkCount),
                     Lanes,
                     GetBandBytes(a) * a.histogramCopies,
                     a,
                     GetVolumes(arrays),
                     firstChunk,
                     AddressOf<u32>(arrays.chunkHistograms),
                     maps);
    });
  }

  void
  SumHistograms(const MattesArguments & a, const MattesArrays & arrays, int chunkCount, bool accumulate) override
  {
    const int cells = a.bins * a.bins;
    m_Queue.Launch("summing the joint histogram",
                   a.samples.variant & SamplesArePrecise ? SumHistogramsKernel<true> : SumHistogramsKernel<false>,
                   dim3(static_cast<unsigned int>((cells + SumCellsPerGroup - 1) / SumCellsPerGroup)),
                   SumLanes,
                   SumLanes * sizeof(u64),
                   cells,
                   chunkCount,
                   static_cast<int>(accumulate),
                   AddressOf<u32>(arrays.chunkHistograms),
                   AddressOf<u64>(arrays.sums));
  }

  void
  Table(const MattesArguments & a, const MattesArrays & arrays) override
  {
    m_Queue.Launch("making the derivative's table",
                   a.samples.variant & SamplesArePrecise ? TableKernel<true> : TableKernel<false>,
                   dim3(1),
                   TableLanes,
                   (TableLanes + 2 * a.bins) * sizeof(float),
                   a,
                   AddressOf<u64>(arrays.sums),
                   AddressOf<char>(arrays.table));
  }

  void
  FindForces(const MattesArguments & a, const SampleMaps & maps, const MattesArrays & arrays) override
  {
    WithVariant(a.samples.variant, [&](auto variant) {
      m_Queue.Launch("summing the derivative's forces",
                     ForceKernel<variant.value>,
                     GetGroups(a, ChunkCount(&a.samples)),
                     Lanes,
                     std::max(GetBandBytes(a), PartialCount(a.samples.variant) * Lanes * sizeof(float)),
                     a,
                     GetVolumes(arrays),
                     AddressOf<char>(arrays.table),
                     reinterpret_cast<float *>(AddressOf<u64>(arrays.sums) + i64{ a.bins } * a.bins),
                     AddressOf<float>(arrays.forces),
                     maps);
    });
  }

private:
  template <typename TKernel>
  void
  AllowLocalMemory(TKernel kernel)
  {
    CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, m_LocalBytes),
              "asking for shared memory",
              m_Queue.GetDeviceName());
  }

  static dim3
  GetGroups(const MattesArguments & a, int chunks)
  {
    return dim3(static_cast<unsigned int>(chunks), static_cast<unsigned int>((a.bins + a.bandRows - 1) / a.bandRows));
  }

  static std::size_t
  GetBandBytes(const MattesArguments & a)
  {
    return static_cast<std::size_t>(a.bandRows) * a.bins * CellBytes(a.samples.variant);
  }

  CudaQueue & m_Queue;
  int         m_LocalBytes = 0;
};
} // namespace

std::unique_ptr<MattesPasses>
CudaQueue::CreateMattesPasses()
{
  return std::make_unique<CudaMattesPasses>(*this);
}

} // namespace gpureg
