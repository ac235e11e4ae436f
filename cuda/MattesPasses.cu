// SPDX-License-Identifier: Apache-2.0
// The two passes of the Mattes histogram in CUDA: entry points and launches. What a group does is in
// src/kernels/MattesKernels.h; the plain version is src/host/MattesPasses.cpp.
#include "CudaQueue.h"

#include "MattesPasses.h"

#include "MattesKernels.h"

#include <algorithm>

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
constexpr int TargetChunks = 528;
constexpr int SumLanes = 1024;
constexpr int TableLanes = 1024;

/** The plain case is compiled on its own; any other looks its variant up at run time. */
constexpr int PlainVariant = MattesReadsQuads;
constexpr int AnyVariant = -1;

template <int VVariant>
__device__ __forceinline__ int
VariantOf(const MattesArguments & a)
{
  return VVariant == AnyVariant ? a.variant : VVariant;
}

extern __shared__ u64 localMemory[];

template <int VVariant>
__global__ void
__launch_bounds__(Lanes, HistogramBlocks)
  HistogramKernel(const __grid_constant__ MattesArguments a, const MattesVolumes v, int firstChunk, u32 * slabs)
{
  MattesHistogramGroup(VariantOf<VVariant>(a), &a, &v, firstChunk, reinterpret_cast<u32 *>(localMemory), slabs);
}

__global__ void
__launch_bounds__(SumLanes) SumSlabsKernel(int cells, int slabCount, int accumulate, const u32 * slabs, u64 * histogram)
{
  MattesSumSlabsGroup(cells, slabCount, accumulate, slabs, localMemory, histogram);
}

__global__ void
__launch_bounds__(TableLanes)
  TableKernel(const __grid_constant__ MattesArguments a, const u64 * histogram, float * table)
{
  float * const scratch = reinterpret_cast<float *>(localMemory);
  MattesTableGroup(&a, histogram, scratch, scratch + TableLanes, table);
}

template <int VVariant>
__global__ void
__launch_bounds__(Lanes, ForceBlocks) ForceKernel(const __grid_constant__ MattesArguments a,
                                                  const MattesVolumes                     v,
                                                  const float *                           table,
                                                  float *                                 partials,
                                                  float *                                 forces)
{
  MattesForceGroup(VariantOf<VVariant>(a), &a, &v, 0, table, reinterpret_cast<float *>(localMemory), partials, forces);
}

MattesVolumes
GetVolumes(const MattesArrays & arrays)
{
  return {
    AddressOf<u16>(arrays.fixedBins),      AddressOf<float>(arrays.points),
    AddressOf<float>(arrays.displacement), AddressOf<float>(arrays.moving),
    AddressOf<float4>(arrays.quads),       AddressOf<float>(arrays.coefficients ? arrays.coefficients : arrays.moving),
    AddressOf<float4>(arrays.gradient),    AddressOf<u8>(arrays.mask),
  };
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
    AllowLocalMemory(HistogramKernel<PlainVariant>);
    AllowLocalMemory(HistogramKernel<AnyVariant>);
    AllowLocalMemory(ForceKernel<PlainVariant>);
    AllowLocalMemory(ForceKernel<AnyVariant>);
    AllowLocalMemory(TableKernel);
  }

  MattesGrain
  GetGrain() const override
  {
    return { Lanes, TargetChunks, static_cast<std::size_t>(m_LocalBytes), true };
  }

  void
  Prepare(int) override
  {}

  void
  Histogram(const MattesArguments & a, const MattesArrays & arrays, int firstChunk, int chunkCount) override
  {
    m_Queue.Launch("counting the joint histogram",
                   a.variant == PlainVariant ? HistogramKernel<PlainVariant> : HistogramKernel<AnyVariant>,
                   GetGroups(a, chunkCount),
                   Lanes,
                   GetBandBytes(a) * a.histogramCopies,
                   a,
                   GetVolumes(arrays),
                   firstChunk,
                   AddressOf<u32>(arrays.slabs));
  }

  void
  SumSlabs(const MattesArguments & a, const MattesArrays & arrays, int slabCount, bool accumulate) override
  {
    const int cells = a.bins * a.bins;
    m_Queue.Launch("summing the joint histogram",
                   SumSlabsKernel,
                   dim3(static_cast<unsigned int>((cells + SlabCellsPerGroup - 1) / SlabCellsPerGroup)),
                   SumLanes,
                   SumLanes * sizeof(u64),
                   cells,
                   slabCount,
                   static_cast<int>(accumulate),
                   AddressOf<u32>(arrays.slabs),
                   AddressOf<u64>(arrays.sums));
  }

  void
  Table(const MattesArguments & a, const MattesArrays & arrays) override
  {
    m_Queue.Launch("making the derivative's table",
                   TableKernel,
                   dim3(1),
                   TableLanes,
                   (TableLanes + 2 * a.bins) * sizeof(float),
                   a,
                   AddressOf<u64>(arrays.sums),
                   AddressOf<float>(arrays.table));
  }

  void
  Forces(const MattesArguments & a, const MattesArrays & arrays) override
  {
    m_Queue.Launch("summing the derivative's forces",
                   a.variant == PlainVariant ? ForceKernel<PlainVariant> : ForceKernel<AnyVariant>,
                   GetGroups(a, ChunkCount(&a)),
                   Lanes,
                   std::max(GetBandBytes(a), ForceSumCount * Lanes * sizeof(float)),
                   a,
                   GetVolumes(arrays),
                   AddressOf<float>(arrays.table),
                   reinterpret_cast<float *>(AddressOf<u64>(arrays.sums) + i64{ a.bins } * a.bins),
                   AddressOf<float>(arrays.forces));
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
    return static_cast<std::size_t>(a.bandRows) * a.bins * sizeof(float);
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
