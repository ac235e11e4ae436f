// SPDX-License-Identifier: Apache-2.0
// The neighborhood correlation in CUDA: entry points and launches. src/kernels/metric/neighborhood/NeighborhoodKernels.h has the work of a
// group; the plain version is src/host/metric/neighborhood/NeighborhoodPasses.cpp.
#include "cuda/metric/samples/CudaSamples.h"

#include "engine/metric/neighborhood/NeighborhoodPasses.h"

#include "kernels/metric/neighborhood/NeighborhoodKernels.h"
#include "kernels/metric/neighborhood/NeighborhoodTileKernels.h"
#include "kernels/metric/neighborhood/NeighborhoodBatchKernels.h"

#include <algorithm>

namespace gpureg
{

namespace
{
// Lines side by side. 181×217 lines make 614 groups, which spread evenly over 132 multiprocessors, and the circular buffers of a radius of
// 4, 27 KiB, leave room for 8 groups on each.
constexpr int LineLanes = 64;
constexpr int MostGroups = 4096;
constexpr int PlaneLanes = 256;
// Three tiles of a radius of 4, 46 KiB each, fit on a multiprocessor. With four groups, lanes have 64 registers, and spill more.
constexpr int TileLanes = 256;
constexpr int TileGroups = 3;
constexpr int MostGroupsY = 1024;

// The most local memory of a group, for scratch and circular buffers: a multiprocessor of compute capability 7.5 has 64 KiB.
constexpr std::size_t MostCircularBufferInLocalMemory = std::size_t{ 48 } << 10;
constexpr std::size_t ScratchBytes = 2 * ForceSumCount * LineLanes * sizeof(float);

/** Kernels are compiled for a linear transform, for a displacement field, and, with the variant looked up at run time, for all others. */
constexpr int LinearVariant = SamplesAreFixedPoint;
constexpr int FieldVariant = SamplesAreFixedPoint | SamplesAreDisplaced;
constexpr int FieldForceVariant = FieldVariant | WritesForces;
constexpr int DifferenceVariant = FieldForceVariant | GradientByDifferences;

template <typename TWork>
void
WithFixedPointVariant(int variant, const TWork & work)
{
  switch (variant)
  {
    case LinearVariant:
      return work(std::integral_constant<int, LinearVariant>{});
    case FieldVariant:
      return work(std::integral_constant<int, FieldVariant>{});
    case FieldForceVariant:
      return work(std::integral_constant<int, FieldForceVariant>{});
    default:
      return variant & SamplesAreChained ? work(std::integral_constant<int, FixedPointChainedVariant>{})
                                         : work(std::integral_constant<int, FixedPointVariant>{});
  }
}

/** Compiles for linear maps only: the candidates of a batch have no other. */
template <typename TWork>
void
WithBatchVariant(int variant, const TWork & work)
{
  variant == LinearVariant ? work(std::integral_constant<int, LinearVariant>{})
                           : work(std::integral_constant<int, FixedPointVariant>{});
}

std::size_t
GetCircularBufferBytes(int length)
{
  return sizeof(double) * NeighborhoodSumCount * LineLanes * static_cast<std::size_t>(length);
}

/** Returns this lane's circular buffer: in `circularBuffers` in global memory, or, if that is null, in local memory behind the scratch. */
__device__ __forceinline__ double *
FindCircularBuffer(const NeighborhoodArguments & a, int axis, double * circularBuffers)
{
  return circularBuffers ? circularBuffers + OffsetOfCircularBuffer(&a, axis, GroupIndex(), LaneCount(), LaneIndex())
                         : reinterpret_cast<double *>(localMemory) + ScratchBytes / sizeof(double) + LaneIndex();
}

template <int VVariant>
__global__ void
__launch_bounds__(PlaneLanes) MovePlanesKernel(const __grid_constant__ NeighborhoodArguments a,
                                               const SampleVolumes                           v,
                                               const NeighborhoodVolumes                     n,
                                               const __grid_constant__ SampleMaps            maps)
{
  MovePlanesGroup(VariantOf<VVariant>(a.samples), &a, &maps, &v, n.moved);
}

template <int VAxis>
__global__ void
__launch_bounds__(LineLanes) SumAlongKernel(const __grid_constant__ NeighborhoodArguments a,
                                            const SampleVolumes                           v,
                                            const NeighborhoodVolumes                     n,
                                            double *                                      circularBuffers,
                                            const __grid_constant__ SampleMaps            maps)
{
  SumAlongGroup(VAxis, &a, &maps, &v, &n, FindCircularBuffer(a, VAxis, circularBuffers));
}

template <int VVariant>
__global__ void
__launch_bounds__(LineLanes) CorrelatePlanesKernel(const __grid_constant__ NeighborhoodArguments a,
                                                   const SampleVolumes                           v,
                                                   const NeighborhoodVolumes                     n,
                                                   double *                                      circularBuffers,
                                                   float *                                       partials,
                                                   const __grid_constant__ SampleMaps            maps)
{
  CorrelatePlanesGroup(VariantOf<VVariant>(a.samples),
                       &a,
                       &maps,
                       &v,
                       &n,
                       FindCircularBuffer(a, 2, circularBuffers),
                       reinterpret_cast<float *>(localMemory),
                       partials);
}

__global__ void
__launch_bounds__(PlaneLanes) SumAlongZKernel(const __grid_constant__ NeighborhoodArguments a,
                                              const SampleVolumes                           v,
                                              const NeighborhoodVolumes                     n,
                                              const __grid_constant__ SampleMaps            maps)
{
  SumAlongZGroup(PlaneLanes, &a, &maps, &v, &n);
}

template <int VVariant>
__global__ void
__launch_bounds__(TileLanes, TileGroups) CorrelateTilesKernel(const __grid_constant__ NeighborhoodArguments a,
                                                              const SampleVolumes                           v,
                                                              const NeighborhoodVolumes                     n,
                                                              float *                                       partials,
                                                              const __grid_constant__ SampleMaps            maps)
{
  CorrelateTilesGroup(
    VariantOf<VVariant>(a.samples), TileLanes, &a, &maps, &v, &n, reinterpret_cast<double *>(localMemory), partials);
}

template <int VVariant>
__global__ void
__launch_bounds__(LineLanes) CorrelateListKernel(const __grid_constant__ NeighborhoodArguments a,
                                                 const SampleVolumes                           v,
                                                 const NeighborhoodVolumes                     n,
                                                 float *                                       partials,
                                                 const __grid_constant__ SampleMaps            maps)
{
  CorrelateListGroup(
    VariantOf<VVariant>(a.samples), &a, &maps, &v, &n, reinterpret_cast<float *>(localMemory), partials);
}

template <int VVariant>
__global__ void
__launch_bounds__(PlaneLanes) BatchMovePlanesKernel(const __grid_constant__ NeighborhoodArguments a,
                                                    const SampleVolumes                           v,
                                                    const NeighborhoodVolumes                     n,
                                                    const SampleMaps *                            batch,
                                                    int                                           firstCandidate)
{
  BatchMovePlanesGroup(VariantOf<VVariant>(a.samples), &a, batch, firstCandidate, &v, &n);
}

__global__ void
__launch_bounds__(PlaneLanes) BatchSumAlongZKernel(const __grid_constant__ NeighborhoodArguments a,
                                                   const SampleVolumes                           v,
                                                   const NeighborhoodVolumes                     n,
                                                   const SampleMaps *                            batch,
                                                   int                                           firstCandidate)
{
  BatchSumAlongZGroup(PlaneLanes, &a, batch, firstCandidate, &v, &n);
}

template <int VVariant>
__global__ void
__launch_bounds__(TileLanes, TileGroups) BatchCorrelateTilesKernel(const __grid_constant__ NeighborhoodArguments a,
                                                                   const SampleVolumes                           v,
                                                                   const NeighborhoodVolumes                     n,
                                                                   const SampleMaps *                            batch,
                                                                   int     firstCandidate,
                                                                   float * partials)
{
  BatchCorrelateTilesGroup(VariantOf<VVariant>(a.samples),
                           TileLanes,
                           &a,
                           batch,
                           firstCandidate,
                           &v,
                           &n,
                           reinterpret_cast<double *>(localMemory),
                           partials);
}

template <int VVariant>
__global__ void
__launch_bounds__(LineLanes) BatchCorrelateListKernel(const __grid_constant__ NeighborhoodArguments a,
                                                      const SampleVolumes                           v,
                                                      const NeighborhoodVolumes                     n,
                                                      const SampleMaps *                            batch,
                                                      int                                           firstCandidate,
                                                      float *                                       partials)
{
  BatchCorrelateListGroup(VariantOf<VVariant>(a.samples),
                          &a,
                          batch,
                          firstCandidate,
                          &v,
                          &n,
                          reinterpret_cast<float *>(localMemory),
                          partials);
}

template <int VAxis>
__global__ void
__launch_bounds__(PlaneLanes)
  SumTermsKernel(const __grid_constant__ NeighborhoodArguments a, i64 count, const float * terms, float * summed)
{
  const i64 voxel = i64{ blockIdx.x } * PlaneLanes + threadIdx.x;
  if (voxel < count)
  {
    SumTermsOfVoxel(VAxis, &a, voxel, terms, summed);
  }
}

template <int VVariant>
__global__ void
__launch_bounds__(PlaneLanes) FindForcesOfTermsKernel(const __grid_constant__ NeighborhoodArguments a,
                                                      i64                                           count,
                                                      const SampleVolumes                           v,
                                                      const float *                                 terms,
                                                      float *                                       forces,
                                                      const __grid_constant__ SampleMaps            maps)
{
  const i64 voxel = i64{ blockIdx.x } * PlaneLanes + threadIdx.x;
  if (voxel < count)
  {
    FindForceOfTerms(VariantOf<VVariant>(a.samples), &a, &maps, &v, voxel, terms, forces);
  }
}

NeighborhoodVolumes
GetNeighborhoodVolumes(const NeighborhoodArrays & arrays)
{
  return MakeNeighborhoodVolumes(arrays, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}

class CudaNeighborhoodPasses : public NeighborhoodPasses
{
public:
  explicit CudaNeighborhoodPasses(CudaQueue & queue)
    : m_Queue(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    CheckCuda(cudaDeviceGetAttribute(&m_LocalBytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, queue.GetDevice()),
              "asking for the size of shared memory",
              queue.GetDeviceName());
    for (const int variant : { LinearVariant,
                               FieldVariant,
                               FieldForceVariant,
                               SamplesAreFixedPoint | MovingHasMask,
                               SamplesAreFixedPoint | SamplesAreChained })
    {
      WithFixedPointVariant(variant,
                            [this](auto constant) { this->AllowLocalBytes(CorrelateTilesKernel<constant.value>); });
    }
    for (const int variant : { LinearVariant, SamplesAreFixedPoint | MovingHasMask })
    {
      WithBatchVariant(variant,
                       [this](auto constant) { this->AllowLocalBytes(BatchCorrelateTilesKernel<constant.value>); });
    }
  }

  NeighborhoodGrain
  GetGrain() const override
  {
    return { LineLanes, MostGroups, TileLanes, static_cast<std::size_t>(m_LocalBytes) };
  }

  bool
  NeedsCircularBuffers(int length) const override
  {
    return ScratchBytes + GetCircularBufferBytes(length) > MostCircularBufferInLocalMemory;
  }

  void
  Prepare(int) override
  {}

  void
  MovePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    WithFixedPointVariant(a.samples.variant & ~(WritesForces | GradientByDifferences), [&](auto variant) {
      m_Queue.Launch("moving planes",
                     MovePlanesKernel<variant.value>,
                     GetPlaneGrid(a),
                     PlaneLanes,
                     0,
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     maps);
    });
  }

  void
  SumAlong(int                           axis,
           const NeighborhoodArguments & a,
           const SampleMaps &            maps,
           const NeighborhoodArrays &    arrays) override
  {
    NeighborhoodArguments ofAxis = a;
    ofAxis.groupCount = CountNeighborhoodGroups(a, axis, GetGrain());
    m_Queue.Launch("summing over neighborhoods",
                   axis == 0 ? SumAlongKernel<0> : SumAlongKernel<1>,
                   dim3(static_cast<unsigned int>(ofAxis.groupCount)),
                   LineLanes,
                   GetLocalBytes(a, axis),
                   ofAxis,
                   GetVolumes(*arrays.samples),
                   GetNeighborhoodVolumes(arrays),
                   GetCircularBuffers(a, axis, arrays),
                   maps);
  }

  void
  CorrelatePlanes(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    WithFixedPointVariant(a.samples.variant, [&](auto variant) {
      m_Queue.Launch("correlating planes",
                     CorrelatePlanesKernel<variant.value>,
                     dim3(static_cast<unsigned int>(a.groupCount)),
                     LineLanes,
                     GetLocalBytes(a, 2),
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     GetCircularBuffers(a, 2, arrays),
                     AddressOf<float>(arrays.partials),
                     maps);
    });
  }

  void
  CorrelateTiles(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    m_Queue.Launch("summing over neighborhoods",
                   SumAlongZKernel,
                   GetZBlockGrid(a),
                   PlaneLanes,
                   0,
                   a,
                   GetVolumes(*arrays.samples),
                   GetNeighborhoodVolumes(arrays),
                   maps);
    // Terms need no gradient, so variants that differ in it share a kernel.
    const int unused = a.forces == TermsOfCentres ? int{ GradientByDifferences } : 0;
    WithFixedPointVariant(a.samples.variant & ~unused, [&](auto variant) {
      m_Queue.Launch("correlating tiles",
                     CorrelateTilesKernel<variant.value>,
                     dim3(static_cast<unsigned int>(a.groupCount)),
                     TileLanes,
                     GetTileBytes(a, a.tileRows, TileLanes),
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     AddressOf<float>(arrays.partials),
                     maps);
    });
  }

  void
  CorrelateList(const NeighborhoodArguments & a, const SampleMaps & maps, const NeighborhoodArrays & arrays) override
  {
    WithFixedPointVariant(a.samples.variant, [&](auto variant) {
      m_Queue.Launch("correlating centres",
                     CorrelateListKernel<variant.value>,
                     dim3(static_cast<unsigned int>(a.groupCount)),
                     LineLanes,
                     ScratchBytes,
                     a,
                     GetVolumes(*arrays.samples),
                     GetNeighborhoodVolumes(arrays),
                     AddressOf<float>(arrays.partials),
                     maps);
    });
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  CorrelateBatch(const NeighborhoodArguments & a,
                 BatchRange                    range,
                 const NeighborhoodArrays &    arrays,
                 const BatchArrays &           batch) override
  {
    const SampleVolumes       v = GetVolumes(*arrays.samples);
    const NeighborhoodVolumes n = GetNeighborhoodVolumes(arrays);
    const SampleMaps * const  maps = AddressOf<SampleMaps>(batch.maps);
    float * const             partials = AddressOf<float>(arrays.partials);
    const dim3                grid(static_cast<unsigned int>(a.groupCount), 1, static_cast<unsigned int>(range.count));
    WithBatchVariant(a.samples.variant, [&](auto variant) {
      if (a.centreCount > 0)
      {
        m_Queue.Launch("correlating centres of a batch",
                       BatchCorrelateListKernel<variant.value>,
                       grid,
                       LineLanes,
                       ScratchBytes,
                       a,
                       v,
                       n,
                       maps,
                       range.first,
                       partials);
        return;
      }
      m_Queue.Launch("moving planes of a batch",
                     BatchMovePlanesKernel<variant.value>,
                     GetPlaneGrid(a, range.count),
                     PlaneLanes,
                     0,
                     a,
                     v,
                     n,
                     maps,
                     range.first);
      m_Queue.Launch("summing over neighborhoods of a batch",
                     BatchSumAlongZKernel,
                     GetZBlockGrid(a, range.count),
                     PlaneLanes,
                     0,
                     a,
                     v,
                     n,
                     maps,
                     range.first);
      m_Queue.Launch("correlating tiles of a batch",
                     BatchCorrelateTilesKernel<variant.value>,
                     grid,
                     TileLanes,
                     GetTileBytes(a, a.tileRows, TileLanes),
                     a,
                     v,
                     n,
                     maps,
                     range.first,
                     partials);
    });
  }

  void
  SumTerms(int axis, const NeighborhoodArguments & a, const Memory & terms, Memory & summed) override
  {
    m_Queue.LaunchFor("summing terms of neighborhoods",
                      axis == 0 ? SumTermsKernel<0> : SumTermsKernel<1>,
                      CountVoxels(a),
                      PlaneLanes,
                      a,
                      CountVoxels(a),
                      AddressIn<const float>(terms),
                      AddressIn<float>(summed));
  }

  void
  FindForcesOfTerms(const NeighborhoodArguments & a,
                    const SampleMaps &            maps,
                    const NeighborhoodArrays &    arrays,
                    const Memory &                terms,
                    Memory &                      forces) override
  {
    const auto launch = [&](auto variant) {
      m_Queue.LaunchFor("finding forces of neighborhoods",
                        FindForcesOfTermsKernel<variant.value>,
                        CountVoxels(a),
                        PlaneLanes,
                        a,
                        CountVoxels(a),
                        GetVolumes(*arrays.samples),
                        AddressIn<const float>(terms),
                        AddressIn<float>(forces),
                        maps);
    };
    if (a.samples.variant == DifferenceVariant)
    {
      launch(std::integral_constant<int, DifferenceVariant>{});
    }
    else
    {
      WithFixedPointVariant(a.samples.variant, launch);
    }
  }

private:
  template <typename TKernel>
  void
  AllowLocalBytes(TKernel * kernel) const
  {
    CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, m_LocalBytes),
              "asking for shared memory",
              m_Queue.GetDeviceName());
  }

  /** Returns the numbers of groups in a plane, of planes, and of candidates. */
  static dim3
  GetPlaneGrid(const NeighborhoodArguments & a, int candidates = 1)
  {
    return MakeGrid((VoxelsOfPlane(&a) + PlaneLanes - 1) / PlaneLanes, a.keptPlanes, candidates);
  }

  /** Returns the numbers of groups in a plane, of blocks of planes, and of candidates. */
  static dim3
  GetZBlockGrid(const NeighborhoodArguments & a, int candidates = 1)
  {
    constexpr int width = PlaneLanes / ZBlocksOfGroup;
    return MakeGrid((VoxelsOfPlane(&a) + width - 1) / width,
                    (CountZBlocks(&a) + ZBlocksOfGroup - 1) / ZBlocksOfGroup,
                    candidates);
  }

  static dim3
  MakeGrid(i64 inPlane, int along, int candidates)
  {
    return dim3(static_cast<unsigned int>(inPlane),
                static_cast<unsigned int>(std::min(along, MostGroupsY)),
                static_cast<unsigned int>(candidates));
  }

  static i64
  CountVoxels(const NeighborhoodArguments & a)
  {
    return VoxelsOfPlane(&a) * a.samples.virtualShape.size[2];
  }

  std::size_t
  GetLocalBytes(const NeighborhoodArguments & a, int axis) const
  {
    const int length = LengthOfWindow(&a, axis);
    return ScratchBytes + (NeedsCircularBuffers(length) ? 0 : GetCircularBufferBytes(length));
  }

  double *
  GetCircularBuffers(const NeighborhoodArguments & a, int axis, const NeighborhoodArrays & arrays) const
  {
    return NeedsCircularBuffers(LengthOfWindow(&a, axis)) ? AddressOf<double>(arrays.circularBuffers) : nullptr;
  }

  CudaQueue & m_Queue;
  int         m_LocalBytes = 0;
};
} // namespace

template <>
std::unique_ptr<NeighborhoodPasses>
MakePassesOn<DeviceKind::Cuda, NeighborhoodPasses>(Queue & queue)
{
  return std::make_unique<CudaNeighborhoodPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
