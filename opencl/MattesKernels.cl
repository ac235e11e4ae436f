// SPDX-License-Identifier: Apache-2.0
// The two passes of the Mattes histogram in OpenCL C: entry points. What a group does is in
// src/kernels/MattesKernels.h; opencl/MattesPasses.cpp launches them.

// The host hands MattesArguments over as bytes: this does not compile where the two disagree on its size.
typedef char MattesArgumentsAreLaidOutAlike[sizeof(MattesArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];

// The volumes that both passes read. One that the variant does not have is never touched.
#define GPUREG_VOLUME_PARAMETERS                                                                    \
  __global const u16 *fixedBins, __global const float *points, __global const float *displacement,  \
    __global const float *moving, __global const float4 *quads, __global const float *coefficients, \
    __global const float4 *gradient, __global const u8 *mask

GPUREG_FUNCTION MattesVolumes
MakeMattesVolumes(GPUREG_VOLUME_PARAMETERS)
{
  MattesVolumes volumes;
  volumes.fixedBins = fixedBins;
  volumes.points = points;
  volumes.displacement = displacement;
  volumes.moving = moving;
  volumes.quads = quads;
  volumes.coefficients = coefficients;
  volumes.gradient = gradient;
  volumes.mask = mask;
  return volumes;
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesHistogram(const MattesArguments arguments,
                GPUREG_VOLUME_PARAMETERS,
                int            firstChunk,
                __local u32 *  histogram,
                __global u32 * slabs)
{
  const MattesVolumes volumes =
    MakeMattesVolumes(fixedBins, points, displacement, moving, quads, coefficients, gradient, mask);
  MattesHistogramGroup(GPUREG_VARIANT, &arguments, &volumes, firstChunk, histogram, slabs);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesSumSlabs(
  int cells, int slabCount, int accumulate, __global const u32 * slabs, __local u64 * partial, __global u64 * histogram)
{
  MattesSumSlabsGroup(cells, slabCount, accumulate, slabs, partial, histogram);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesTable(const MattesArguments arguments,
            __global const u64 *  histogram,
            __local float *       scratch,
            __local float *       marginals,
            __global float *      table)
{
  MattesTableGroup(&arguments, histogram, scratch, marginals, table);
}

/** sums: the joint histogram as 64-bit counts, and behind it the partial sums of the forces. */
__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
MattesForces(const MattesArguments arguments,
             GPUREG_VOLUME_PARAMETERS,
             __global const float * table,
             __local float *        scratch,
             __global u64 *         sums,
             __global float *       forces)
{
  const MattesVolumes volumes =
    MakeMattesVolumes(fixedBins, points, displacement, moving, quads, coefficients, gradient, mask);
  __global float * partials = (__global float *)(sums + (i64)arguments.bins * arguments.bins);
  MattesForceGroup(GPUREG_VARIANT, &arguments, &volumes, 0, table, scratch, partials, forces);
}
