// SPDX-License-Identifier: Apache-2.0
// The entry points of the neighborhood correlation in CUDA, and the variants for which they are compiled.
// src/kernels/metric/neighborhood/NeighborhoodKernels.h has the work of a group.
#ifndef gpureg_CudaNeighborhoodKernels_h
#define gpureg_CudaNeighborhoodKernels_h

#include "cuda/metric/samples/CudaSamples.h"

#include "engine/metric/neighborhood/NeighborhoodPasses.h"

#include "kernels/metric/neighborhood/NeighborhoodKernels.h"
#include "kernels/metric/neighborhood/NeighborhoodTileKernels.h"
#include "kernels/metric/neighborhood/NeighborhoodBatchKernels.h"

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
GetCircularBuffer(const NeighborhoodArguments & a, int axis, double * circularBuffers)
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
  SumAlongGroup(VAxis, &a, &maps, &v, &n, GetCircularBuffer(a, VAxis, circularBuffers));
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
                       GetCircularBuffer(a, 2, circularBuffers),
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
__launch_bounds__(PlaneLanes) ComputeForcesOfTermsKernel(const __grid_constant__ NeighborhoodArguments a,
                                                         i64                                           count,
                                                         const SampleVolumes                           v,
                                                         const float *                                 terms,
                                                         float *                                       forces,
                                                         const __grid_constant__ SampleMaps            maps)
{
  const i64 voxel = i64{ blockIdx.x } * PlaneLanes + threadIdx.x;
  if (voxel < count)
  {
    ComputeForceOfTerms(VariantOf<VVariant>(a.samples), &a, &maps, &v, voxel, terms, forces);
  }
}

} // namespace

} // namespace gpureg

#endif
