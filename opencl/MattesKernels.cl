// SPDX-License-Identifier: Apache-2.0
// The two passes of the Mattes histogram in OpenCL C: entry points. What a group does is in
// src/kernels/MattesKernels.h; opencl/MattesPasses.cpp launches them.

// Whoever compiles defines GPUREG_VARIANT: a variant's number, or variant, for kernels that do all of them.

// The host hands MattesArguments over as bytes: this does not compile where the two disagree on its size.
typedef char MattesArgumentsAreLaidOutAlike[sizeof(MattesArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];
typedef char SampleMapsAreLaidOutAlike[sizeof(SampleMaps) == GPUREG_MAPS_BYTES ? 1 : -1];

// The volumes that both passes read. One that the variant does not have is never touched.
#define GPUREG_VOLUME_PARAMETERS                                                                    \
  __global const u16 *fixedBins, __global const i64 *points, __global const float *displacement,    \
    __global const float *moving, __global const float4 *quads, __global const float *coefficients, \
    __global const float4 *gradient, __global const u8 *mask

GPUREG_FUNCTION SampleVolumes
MakeSampleVolumes(GPUREG_VOLUME_PARAMETERS)
{
  SampleVolumes volumes;
  volumes.fixedBins = fixedBins;
  volumes.points = points;
  volumes.displacement = displacement;
  volumes.moving = moving;
  volumes.quads = quads;
  volumes.coefficients = coefficients;
  volumes.gradient = gradient;
  volumes.mask = mask;
  volumes.preciseMoving = (__global const i64 *)moving;
  volumes.preciseCoefficients = (__global const i64 *)coefficients;
  return volumes;
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesHistogram(const MattesArguments arguments,
                const SampleMaps      maps,
                GPUREG_VOLUME_PARAMETERS,
                int            firstChunk,
                __local u32 *  histogram,
                __global u32 * chunkHistograms)
{
  const int           variant = arguments.samples.variant;
  const SampleVolumes volumes =
    MakeSampleVolumes(fixedBins, points, displacement, moving, quads, coefficients, gradient, mask);
  MattesHistogramGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk, histogram, chunkHistograms);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesSumHistograms(int                  variant,
                    int                  cells,
                    int                  chunkCount,
                    int                  accumulate,
                    __global const u32 * chunkHistograms,
                    __local u64 *        shareSums,
                    __global u64 *       histogram)
{
  MattesSumHistogramsGroup(GPUREG_VARIANT, cells, chunkCount, accumulate, chunkHistograms, shareSums, histogram);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesTable(const MattesArguments arguments,
            __global const u64 *  histogram,
            __local float *       scratch,
            __local u64 *         marginals,
            __global void *       table)
{
  const int variant = arguments.samples.variant;
  MattesTableGroup(GPUREG_VARIANT, &arguments, histogram, scratch, (__local float *)marginals, table);
}

/** sums: the joint histogram as 64-bit counts, and behind it the partial sums of the forces. */
__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesForces(const MattesArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             __global const void * table,
             __local u64 *         scratch,
             __global u64 *        sums,
             __global float *      forces)
{
  const int           variant = arguments.samples.variant;
  const SampleVolumes volumes =
    MakeSampleVolumes(fixedBins, points, displacement, moving, quads, coefficients, gradient, mask);
  __global float * partials = (__global float *)(sums + (i64)arguments.bins * arguments.bins);
  MattesForceGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, 0, table, (__local float *)scratch, partials, forces);
}
