// SPDX-License-Identifier: Apache-2.0
// The neighborhood correlation in OpenCL C: the entry points. src/kernels/metric/neighborhood/NeighborhoodKernels.h has the work of a
// group; opencl/metric/neighborhood/NeighborhoodPasses.cpp launches them, and defines GPUREG_PARTS, the sum of the parts to compile: 1
// planes, 2 tiles, 4 a list, 8 terms; 16 and 32 tiles and lists of batches.

// Names the parameters that all entry points take after the samples' volumes. A pass never reads an array that it does not have.
#define GPUREG_NEIGHBORHOOD_PARAMETERS                                                             \
  __global i64 *moved, __global double *sums, __global const i64 *centres, __global float *forces, \
    __global double *circularBuffers, __global float *partials

#define GPUREG_NEIGHBORHOOD_BEGINNING                                    \
  const int                 variant = arguments.samples.variant;         \
  const SampleVolumes       volumes = MakeSampleVolumes(GPUREG_VOLUMES); \
  const NeighborhoodVolumes kept = MakeNeighborhoodVolumes(moved, sums, centres, forces)

GPUREG_FUNCTION NeighborhoodVolumes
MakeNeighborhoodVolumes(__global i64 *       moved,
                        __global double *    sums,
                        __global const i64 * centres,
                        __global float *     forces)
{
  NeighborhoodVolumes volumes;
  volumes.moved = moved;
  volumes.sums = sums;
  volumes.centres = centres;
  volumes.forces = forces;
  return volumes;
}

#if GPUREG_PARTS & 1
GPUREG_KERNEL void
MovePlanes(const MetricArguments arguments,
           const SampleMaps      maps,
           GPUREG_VOLUME_PARAMETERS,
           GPUREG_NEIGHBORHOOD_PARAMETERS)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  MovePlanesGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, kept.moved);
}

GPUREG_KERNEL void
SumAlongX(const MetricArguments arguments,
          const SampleMaps      maps,
          GPUREG_VOLUME_PARAMETERS,
          GPUREG_NEIGHBORHOOD_PARAMETERS)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  SumAlongGroup(0,
                &arguments,
                &maps,
                &volumes,
                &kept,
                circularBuffers + OffsetOfCircularBuffer(&arguments, 0, GroupIndex(), LaneCount(), LaneIndex()));
}

GPUREG_KERNEL void
SumAlongY(const MetricArguments arguments,
          const SampleMaps      maps,
          GPUREG_VOLUME_PARAMETERS,
          GPUREG_NEIGHBORHOOD_PARAMETERS)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  SumAlongGroup(1,
                &arguments,
                &maps,
                &volumes,
                &kept,
                circularBuffers + OffsetOfCircularBuffer(&arguments, 1, GroupIndex(), LaneCount(), LaneIndex()));
}

GPUREG_KERNEL void
CorrelatePlanes(const MetricArguments arguments,
                const SampleMaps      maps,
                GPUREG_VOLUME_PARAMETERS,
                GPUREG_NEIGHBORHOOD_PARAMETERS,
                __local float * scratch)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  CorrelatePlanesGroup(GPUREG_VARIANT,
                       &arguments,
                       &maps,
                       &volumes,
                       &kept,
                       circularBuffers + OffsetOfCircularBuffer(&arguments, 2, GroupIndex(), LaneCount(), LaneIndex()),
                       scratch,
                       partials);
}
#endif

#if GPUREG_PARTS & 2
GPUREG_KERNEL void
SumAlongZ(const MetricArguments arguments,
          const SampleMaps      maps,
          GPUREG_VOLUME_PARAMETERS,
          GPUREG_NEIGHBORHOOD_PARAMETERS)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  SumAlongZGroup(GPUREG_LANES, &arguments, &maps, &volumes, &kept);
}

GPUREG_KERNEL void
CorrelateTiles(const MetricArguments arguments,
               const SampleMaps      maps,
               GPUREG_VOLUME_PARAMETERS,
               GPUREG_NEIGHBORHOOD_PARAMETERS,
               __local double * tile)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  CorrelateTilesGroup(GPUREG_VARIANT, GPUREG_LANES, &arguments, &maps, &volumes, &kept, tile, partials);
}
#endif

#if GPUREG_PARTS & 4
GPUREG_KERNEL void
CorrelateList(const MetricArguments arguments,
              const SampleMaps      maps,
              GPUREG_VOLUME_PARAMETERS,
              GPUREG_NEIGHBORHOOD_PARAMETERS,
              __local float * scratch)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  CorrelateListGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, &kept, scratch, partials);
}
#endif

#if GPUREG_PARTS & 8
GPUREG_KERNEL void
SumTerms(const MetricArguments  arguments,
         const int              axis,
         const i64              count,
         __global const float * terms,
         __global float *       summed)
{
  const i64 voxel = ComputeItem();
  if (voxel < count)
  {
    SumTermsOfVoxel(axis, &arguments, voxel, terms, summed);
  }
}

GPUREG_KERNEL void
ComputeForcesOfTerms(const MetricArguments arguments,
                     const SampleMaps      maps,
                     GPUREG_VOLUME_PARAMETERS,
                     GPUREG_NEIGHBORHOOD_PARAMETERS,
                     const i64              count,
                     __global const float * terms,
                     __global float *       found)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  const i64 voxel = ComputeItem();
  if (voxel < count)
  {
    ComputeForceOfTerms(GPUREG_VARIANT, &arguments, &maps, &volumes, voxel, terms, found);
  }
}
#endif

#if GPUREG_PARTS & 16
GPUREG_KERNEL void
BatchMovePlanes(const MetricArguments       arguments,
                __global const SampleMaps * batch,
                GPUREG_VOLUME_PARAMETERS,
                GPUREG_NEIGHBORHOOD_PARAMETERS,
                const int firstCandidate)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  BatchMovePlanesGroup(GPUREG_VARIANT, &arguments, batch, firstCandidate, &volumes, &kept);
}

GPUREG_KERNEL void
BatchSumAlongZ(const MetricArguments       arguments,
               __global const SampleMaps * batch,
               GPUREG_VOLUME_PARAMETERS,
               GPUREG_NEIGHBORHOOD_PARAMETERS,
               const int firstCandidate)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  BatchSumAlongZGroup(GPUREG_LANES, &arguments, batch, firstCandidate, &volumes, &kept);
}

GPUREG_KERNEL void
BatchCorrelateTiles(const MetricArguments       arguments,
                    __global const SampleMaps * batch,
                    GPUREG_VOLUME_PARAMETERS,
                    GPUREG_NEIGHBORHOOD_PARAMETERS,
                    const int        firstCandidate,
                    __local double * tile)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  BatchCorrelateTilesGroup(
    GPUREG_VARIANT, GPUREG_LANES, &arguments, batch, firstCandidate, &volumes, &kept, tile, partials);
}
#endif

#if GPUREG_PARTS & 32
GPUREG_KERNEL void
BatchCorrelateList(const MetricArguments       arguments,
                   __global const SampleMaps * batch,
                   GPUREG_VOLUME_PARAMETERS,
                   GPUREG_NEIGHBORHOOD_PARAMETERS,
                   const int       firstCandidate,
                   __local float * scratch)
{
  GPUREG_NEIGHBORHOOD_BEGINNING;
  BatchCorrelateListGroup(GPUREG_VARIANT, &arguments, batch, firstCandidate, &volumes, &kept, scratch, partials);
}
#endif
