// SPDX-License-Identifier: Apache-2.0
// The schemes of the correlation ratio's first pass in CUDA: entry points and launches.
// src/kernels/metric/histogram/CorrelationRatioSchemes.h has the work of a group.
#include "cuda/metric/histogram/CudaHistogramPasses.h"

#include "engine/metric/histogram/CorrelationRatioSchemePasses.h"
#include "cuda/metric/histogram/CudaSort.h"

#include "kernels/metric/histogram/CorrelationRatioCount.h"
#include "kernels/metric/histogram/CorrelationRatioSchemes.h"

#include <algorithm>
#include <cstdint>

namespace gpureg
{

namespace
{
// The lanes and blocks of ConflictFree unless the caller sets others; the other schemes have `Lanes` lanes.
constexpr int WorkloadLanes = 256;
constexpr int WorkloadBlocks = 6;
constexpr int JoinLanes = 128;
constexpr int SearchLanes = 128;
// The most lanes that a caller may set.
constexpr int MostLanes = LaunchShape::MostLanes;
// The bits of a variant that concern the second pass alone: the plain kernel of the first pass serves these variants, too.
constexpr int OfForces = GradientByDifferences | WritesForces;

/** Returns the number of groups on a multiprocessor for which a lane gets as many registers as with BlocksOfHistogram() groups of
 *  `Lanes` lanes. */
constexpr int
BlocksOfMostLanes(int variant)
{
  return BlocksOfHistogram(variant) * Lanes / MostLanes;
}

template <int VVariant>
__global__ void
__launch_bounds__(MostLanes, BlocksOfMostLanes(VVariant))
  GlobalAtomicKernel(const __grid_constant__ CorrelationRatioArguments a,
                     const SampleVolumes                               v,
                     int                                               firstChunk,
                     int                                               chunkCount,
                     u64 *                                             histogram,
                     const __grid_constant__ SampleMaps                maps)
{
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    GlobalAtomicGroup(VariantOf<VVariant>(a.histogram.samples), &a, &maps, &v, firstChunk + slot, histogram);
  }
}

template <int VVariant>
__global__ void
__launch_bounds__(MostLanes, BlocksOfMostLanes(VVariant))
  GlobalMergeKernel(const __grid_constant__ CorrelationRatioArguments a,
                    const SampleVolumes                               v,
                    int                                               firstChunk,
                    int                                               chunkCount,
                    u32 *                                             chunkHistograms,
                    const __grid_constant__ SampleMaps                maps)
{
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    GlobalMergeGroup(VariantOf<VVariant>(a.histogram.samples), &a, &maps, &v, firstChunk + slot, slot, chunkHistograms);
  }
}

template <int VVariant>
__global__ void
__launch_bounds__(MostLanes, BlocksOfMostLanes(VVariant))
  SharedAtomicKernel(const __grid_constant__ CorrelationRatioArguments a,
                     const SampleVolumes                               v,
                     int                                               firstChunk,
                     int                                               chunkCount,
                     u64 *                                             histogram,
                     const __grid_constant__ SampleMaps                maps)
{
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    SharedAtomicGroup(VariantOf<VVariant>(a.histogram.samples),
                      &a,
                      &maps,
                      &v,
                      firstChunk + slot,
                      reinterpret_cast<u32 *>(localMemory),
                      histogram);
    LocalBarrier();
  }
}

/** Does the work of a metric's HistogramKernel with another number of lanes. */
template <int VVariant>
__global__ void
__launch_bounds__(MostLanes, BlocksOfMostLanes(VVariant))
  SharedMergeKernel(const __grid_constant__ CorrelationRatioArguments a,
                    const SampleVolumes                               v,
                    int                                               firstChunk,
                    int                                               chunkCount,
                    u32 *                                             chunkHistograms,
                    const __grid_constant__ SampleMaps                maps)
{
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    HistogramGroup(VariantOf<VVariant>(a.histogram.samples),
                   &a,
                   &maps,
                   &v,
                   firstChunk + slot,
                   slot,
                   reinterpret_cast<u32 *>(localMemory),
                   chunkHistograms);
    LocalBarrier();
  }
}

template <int VVariant>
__global__ void
__launch_bounds__(MostLanes, BlocksOfMostLanes(VVariant))
  SharedWarpKernel(const __grid_constant__ CorrelationRatioArguments a,
                   const SampleVolumes                               v,
                   int                                               firstChunk,
                   int                                               chunkCount,
                   u32 *                                             chunkHistograms,
                   const __grid_constant__ SampleMaps                maps)
{
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    SharedWarpGroup(VariantOf<VVariant>(a.histogram.samples),
                    &a,
                    &maps,
                    &v,
                    firstChunk + slot,
                    slot,
                    reinterpret_cast<u32 *>(localMemory),
                    chunkHistograms);
    LocalBarrier();
  }
}

/** \tparam VLanes the most lanes of a launch: WorkloadLanes or MostLanes. */
template <int VVariant, int VLanes>
__global__ void
__launch_bounds__(VLanes, VLanes == WorkloadLanes ? WorkloadBlocks : 1)
  ConflictFreeKernel(const __grid_constant__ CorrelationRatioArguments a,
                     const SampleVolumes                               v,
                     const u32 *                                       sorted,
                     const Workload *                                  workloads,
                     u64 *                                             sumsOfWorkloads,
                     const __grid_constant__ SampleMaps                maps)
{
  ConflictFreeGroup(
    VariantOf<VVariant>(a.histogram.samples), &a, &maps, &v, sorted, workloads, localMemory, sumsOfWorkloads);
}

__global__ void
__launch_bounds__(JoinLanes)
  JoinWorkloadsKernel(int columns, const u32 * firstWorkloads, const u64 * sumsOfWorkloads, u64 * histogram)
{
  JoinWorkloadsGroup(columns, firstWorkloads, sumsOfWorkloads, localMemory, histogram);
}

/** Writes firstOfBin[bin], the number of keys below bin, for 0 <= bin <= bins. */
__global__ void
__launch_bounds__(SearchLanes) FindBinsKernel(const u16 * sortedKeys, u32 count, int bins, u32 * firstOfBin)
{
  const int bin = static_cast<int>(blockIdx.x * SearchLanes + threadIdx.x);
  if (bin > bins)
  {
    return;
  }
  u32 first = 0;
  u32 end = count;
  while (first < end)
  {
    const u32 middle = first + (end - first) / 2;
    if (static_cast<int>(sortedKeys[middle]) < bin)
    {
      first = middle + 1;
    }
    else
    {
      end = middle;
    }
  }
  firstOfBin[bin] = first;
}

class CudaCorrelationRatioSchemePasses : public CorrelationRatioSchemePasses
{
public:
  explicit CudaCorrelationRatioSchemePasses(CudaQueue & queue)
    : m_Queue(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    int                   localBytes = 0;
    CheckCuda(cudaDeviceGetAttribute(&localBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue.GetDevice()),
              "asking for the size of shared memory",
              queue.GetDeviceName());
    const auto allow = [&](auto kernel) {
      CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, localBytes),
                "asking for shared memory",
                queue.GetDeviceName());
    };
    WithEachVariant<Arguments>([&](auto constant) {
      allow(SharedAtomicKernel<constant.value>);
      allow(SharedMergeKernel<constant.value>);
      allow(SharedWarpKernel<constant.value>);
    });
  }

  void
  Prepare(int) override
  {}

  int
  ChooseLanes(CorrelationRatioScheme scheme, int set) const override
  {
    return set != 0 ? set : scheme == CorrelationRatioScheme::ConflictFree ? WorkloadLanes : Lanes;
  }

  void
  Sort(const MemoryPointer & fixedBins, std::int64_t count, int bins, SortedSamples & sorted) override
  {
    const auto    samples = static_cast<std::uint32_t>(count);
    const auto    ends = static_cast<std::size_t>(bins) + 1;
    MemoryPointer sortedKeys = m_Queue.Allocate(samples * sizeof(u16));
    MemoryPointer firstOfBin = m_Queue.Allocate(ends * sizeof(u32));
    MemoryPointer scratch;
    ReserveExactly(m_Queue, sorted.indices, samples * sizeof(u32));
    SortIndices(
      m_Queue, AddressOf<u16>(fixedBins), samples, AddressOf<u16>(sortedKeys), AddressOf<u32>(sorted.indices), scratch);
    m_Queue.Launch("finding the bins' samples",
                   FindBinsKernel,
                   dim3(static_cast<unsigned int>((ends + SearchLanes - 1) / SearchLanes)),
                   SearchLanes,
                   0,
                   AddressOf<u16>(sortedKeys),
                   samples,
                   bins,
                   AddressOf<u32>(firstOfBin));
    sorted.firstOfBin.resize(ends);
    m_Queue.Download(sorted.firstOfBin.data(), *firstOfBin, ends * sizeof(u32));
  }

  void
  Clear(const Arguments & a, const HistogramArrays & arrays) override
  {
    const CudaDeviceScope scope(m_Queue.GetDevice());
    CheckCuda(
      cudaMemsetAsync(AddressOf<u64>(arrays.sums), 0, CountEntries(a.histogram) * sizeof(u64), m_Queue.GetStream()),
      "clearing the histogram",
      m_Queue.GetDeviceName());
  }

  void
  Count(CorrelationRatioScheme  scheme,
        const SchemeLaunch &    launch,
        const HistogramArrays & arrays,
        int                     firstChunk,
        int                     chunkCount) override
  {
    const Arguments & a = launch.arguments;
    WithVariant<Arguments>(a.histogram.samples.variant & ~OfForces, [&](auto variant) {
      const auto        bands = static_cast<unsigned int>(CountBands(a.histogram));
      const std::size_t localBytes = GetBandBytes(a.histogram) * static_cast<std::size_t>(a.histogram.histogramCopies);
      const auto        enqueue = [&](auto kernel, unsigned int groupsY, std::size_t bytes, auto * out) {
        m_Queue.Launch("counting the histogram",
                       kernel,
                       dim3(static_cast<unsigned int>(std::min(launch.shape.groups, chunkCount)), groupsY),
                       launch.shape.lanes,
                       bytes,
                       a,
                       GetVolumes(*arrays.samples),
                       firstChunk,
                       chunkCount,
                       out,
                       launch.maps);
      };
      u64 * const sums = AddressOf<u64>(arrays.sums);
      u32 * const chunkHistograms = AddressOf<u32>(arrays.chunkHistograms);
      switch (scheme)
      {
        case CorrelationRatioScheme::GlobalAtomic:
          enqueue(GlobalAtomicKernel<variant.value>, 1, 0, sums);
          break;
        case CorrelationRatioScheme::GlobalMerge:
          enqueue(GlobalMergeKernel<variant.value>, 1, 0, chunkHistograms);
          break;
        case CorrelationRatioScheme::SharedAtomic:
          enqueue(SharedAtomicKernel<variant.value>, bands, localBytes, sums);
          break;
        case CorrelationRatioScheme::SharedMerge:
          enqueue(SharedMergeKernel<variant.value>, bands, localBytes, chunkHistograms);
          break;
        case CorrelationRatioScheme::SharedWarp:
          enqueue(SharedWarpKernel<variant.value>, bands, localBytes, chunkHistograms);
          break;
        case CorrelationRatioScheme::ConflictFree:
          break; // CountWorkloads
      }
    });
  }

  void
  CountWorkloads(const SchemeLaunch & launch, const HistogramArrays & arrays, const SchemeArrays & schemes) override
  {
    const Arguments & a = launch.arguments;
    const int         lanes = launch.shape.lanes;
    if (schemes.workloadCount > 0)
    {
      WithVariant<Arguments>(a.histogram.samples.variant & ~OfForces, [&](auto variant) {
        m_Queue.Launch("counting the sorted samples",
                       lanes > WorkloadLanes ? ConflictFreeKernel<variant.value, MostLanes>
                                             : ConflictFreeKernel<variant.value, WorkloadLanes>,
                       dim3(static_cast<unsigned int>(schemes.workloadCount)),
                       lanes,
                       static_cast<std::size_t>(lanes) * CorrelationRatioColumns * sizeof(u64),
                       a,
                       GetVolumes(*arrays.samples),
                       AddressOf<u32>(schemes.sorted.indices),
                       AddressOf<Workload>(schemes.workloads),
                       AddressOf<u64>(schemes.sumsOfWorkloads),
                       launch.maps);
      });
    }
    m_Queue.Launch("joining the sorted samples' sums",
                   JoinWorkloadsKernel,
                   dim3(static_cast<unsigned int>(a.histogram.rows)),
                   JoinLanes,
                   JoinLanes * CorrelationRatioColumns * sizeof(u64),
                   a.histogram.columns,
                   AddressOf<u32>(schemes.firstWorkloads),
                   AddressOf<u64>(schemes.sumsOfWorkloads),
                   AddressOf<u64>(arrays.sums));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<CorrelationRatioSchemePasses>
MakePassesOn<DeviceKind::Cuda, CorrelationRatioSchemePasses>(Queue & queue)
{
  return std::make_unique<CudaCorrelationRatioSchemePasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
