// SPDX-License-Identifier: Apache-2.0
// The schemes of the correlation ratio's first pass in OpenCL C: entry points. What a group does is in
// src/kernels/CorrelationRatioSchemes.h; opencl/CorrelationRatioSchemePasses.cpp launches them.

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
GlobalAtomic(const MetricArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             int            firstChunk,
             __global u64 * histogram)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  GlobalAtomicGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk, histogram);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
GlobalMerge(const MetricArguments arguments,
            const SampleMaps      maps,
            GPUREG_VOLUME_PARAMETERS,
            int            firstChunk,
            __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  GlobalMergeGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk, chunkHistograms);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
SharedAtomic(const MetricArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             int            firstChunk,
             __local u32 *  counted,
             __global u64 * histogram)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  SharedAtomicGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk, counted, histogram);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
SharedWarp(const MetricArguments arguments,
           const SampleMaps      maps,
           GPUREG_VOLUME_PARAMETERS,
           int            firstChunk,
           __local u32 *  counted,
           __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  SharedWarpGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk, counted, chunkHistograms);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
ConflictFree(const MetricArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             __global const u32 *        sorted,
             __global const SortedPart * parts,
             __local u64 *               scratch,
             __global u64 *              sumsOfParts)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  ConflictFreeGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, sorted, parts, scratch, sumsOfParts);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
JoinParts(__global const u32 * firstParts,
          __global const u64 * sumsOfParts,
          __local u64 *        scratch,
          __global u64 *       histogram)
{
  JoinPartsGroup(firstParts, sumsOfParts, scratch, histogram);
}
