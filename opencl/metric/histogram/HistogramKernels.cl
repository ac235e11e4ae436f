// SPDX-License-Identifier: Apache-2.0
// The two passes of a metric that has a histogram in OpenCL C: entry points. src/kernels/metric/histogram/HistogramKernels.h has the work
// of a group; opencl/metric/histogram/OpenCLHistogramPasses.h launches them.
//
// The host defines GPUREG_BATCH when it compiles the entry points of batches, which are a program of their own.

#ifndef GPUREG_BATCH

GPUREG_KERNEL void
Histogram(const MetricArguments arguments,
          const SampleMaps      maps,
          GPUREG_VOLUME_PARAMETERS,
          int            firstChunk,
          __local u32 *  histogram,
          __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  HistogramGroup(
    GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk + GroupIndex(), GroupIndex(), histogram, chunkHistograms);
}

GPUREG_KERNEL void
SumHistograms(const MetricArguments arguments,
              int                   chunkCount,
              int                   accumulate,
              __global const u32 *  chunkHistograms,
              __local u64 *         shareSums,
              __global u64 *        histogram)
{
  const int variant = arguments.histogram.samples.variant;
  SumHistogramsGroup(GPUREG_VARIANT,
                     &arguments,
                     LeastSumEntries,
                     GroupIndex(),
                     chunkCount,
                     accumulate,
                     chunkHistograms,
                     shareSums,
                     histogram);
}

GPUREG_KERNEL void
Table(const MetricArguments arguments,
      __global const u64 *  histogram,
      __local float *       scratch,
      __local u64 *         marginals,
      __global void *       table)
{
  const int variant = arguments.histogram.samples.variant;
  TableGroup(GPUREG_VARIANT, &arguments, histogram, scratch, (__local float *)marginals, table);
}

/** sums: the histogram as 64-bit counts, followed by the partial sums of the forces. */
GPUREG_KERNEL void
Forces(const MetricArguments arguments,
       const SampleMaps      maps,
       GPUREG_VOLUME_PARAMETERS,
       __global const void * table,
       __local u64 *         scratch,
       __global u64 *        sums,
       __global float *      forces)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  __global float *    partials = (__global float *)(sums + (i64)arguments.histogram.rows * arguments.histogram.columns);
  ForceGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, 0, table, (__local float *)scratch, partials, forces);
}

#else

GPUREG_KERNEL void
BatchHistograms(const MetricArguments       arguments,
                __global const SampleMaps * batch,
                GPUREG_VOLUME_PARAMETERS,
                int            firstCandidate,
                __local u32 *  histogram,
                __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  BatchHistogramGroup(GPUREG_VARIANT, &arguments, batch, firstCandidate, &volumes, histogram, chunkHistograms);
}

GPUREG_KERNEL void
BatchSums(const MetricArguments arguments,
          __global const u32 *  chunkHistograms,
          __local u64 *         shareSums,
          __global u64 *        histograms)
{
  const int variant = arguments.histogram.samples.variant;
  BatchSumGroup(GPUREG_VARIANT, &arguments, chunkHistograms, shareSums, histograms);
}

#endif
