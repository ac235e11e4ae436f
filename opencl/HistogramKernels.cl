// SPDX-License-Identifier: Apache-2.0
// The two passes of a metric that has a histogram in OpenCL C: entry points. What a group does is in
// src/kernels/HistogramKernels.h; opencl/OpenCLHistogramPasses.h launches them.

// Whoever compiles defines GPUREG_VARIANT: a variant's number, or variant, for kernels that do all of them. The text before
// this defines MetricArguments, the metric's own.

// The host hands them over as bytes: this does not compile where the two disagree on a size.
typedef char MetricArgumentsAreLaidOutAlike[sizeof(MetricArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];
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
Histogram(const MetricArguments arguments,
          const SampleMaps      maps,
          GPUREG_VOLUME_PARAMETERS,
          int            firstChunk,
          __local u32 *  histogram,
          __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes =
    MakeSampleVolumes(fixedBins, points, displacement, moving, quads, coefficients, gradient, mask);
  HistogramGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk, histogram, chunkHistograms);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
SumHistograms(const MetricArguments arguments,
              int                   chunkCount,
              int                   accumulate,
              __global const u32 *  chunkHistograms,
              __local u64 *         shareSums,
              __global u64 *        histogram)
{
  const int variant = arguments.histogram.samples.variant;
  SumHistogramsGroup(GPUREG_VARIANT, &arguments, chunkCount, accumulate, chunkHistograms, shareSums, histogram);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
Table(const MetricArguments arguments,
      __global const u64 *  histogram,
      __local float *       scratch,
      __local u64 *         marginals,
      __global void *       table)
{
  const int variant = arguments.histogram.samples.variant;
  TableGroup(GPUREG_VARIANT, &arguments, histogram, scratch, (__local float *)marginals, table);
}

/** sums: the joint histogram as 64-bit counts, and behind it the partial sums of the forces. */
__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
Forces(const MetricArguments arguments,
       const SampleMaps      maps,
       GPUREG_VOLUME_PARAMETERS,
       __global const void * table,
       __local u64 *         scratch,
       __global u64 *        sums,
       __global float *      forces)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes =
    MakeSampleVolumes(fixedBins, points, displacement, moving, quads, coefficients, gradient, mask);
  __global float * partials = (__global float *)(sums + (i64)arguments.histogram.rows * arguments.histogram.columns);
  ForceGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, 0, table, (__local float *)scratch, partials, forces);
}
