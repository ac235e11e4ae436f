// SPDX-License-Identifier: Apache-2.0
// The schemes of the correlation ratio's first pass in OpenCL C: entry points. What a group does with a chunk is in
// src/kernels/CorrelationRatioSchemes.h; opencl/CorrelationRatioSchemePasses.cpp launches them, with as many groups as chunks,
// or fewer.

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
GlobalAtomic(const MetricArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             int            firstChunk,
             int            chunkCount,
             __global u64 * histogram)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    GlobalAtomicGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk + slot, histogram);
  }
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
GlobalMerge(const MetricArguments arguments,
            const SampleMaps      maps,
            GPUREG_VOLUME_PARAMETERS,
            int            firstChunk,
            int            chunkCount,
            __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    GlobalMergeGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk + slot, slot, chunkHistograms);
  }
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
SharedAtomic(const MetricArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             int            firstChunk,
             int            chunkCount,
             __local u32 *  counted,
             __global u64 * histogram)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    SharedAtomicGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk + slot, counted, histogram);
    LocalBarrier();
  }
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
SharedMerge(const MetricArguments arguments,
            const SampleMaps      maps,
            GPUREG_VOLUME_PARAMETERS,
            int            firstChunk,
            int            chunkCount,
            __local u32 *  counted,
            __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    HistogramGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk + slot, slot, counted, chunkHistograms);
    LocalBarrier();
  }
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
SharedWarp(const MetricArguments arguments,
           const SampleMaps      maps,
           GPUREG_VOLUME_PARAMETERS,
           int            firstChunk,
           int            chunkCount,
           __local u32 *  counted,
           __global u32 * chunkHistograms)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  for (int slot = GroupIndex(); slot < chunkCount; slot += GroupCount())
  {
    SharedWarpGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, firstChunk + slot, slot, counted, chunkHistograms);
    LocalBarrier();
  }
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
ConflictFree(const MetricArguments arguments,
             const SampleMaps      maps,
             GPUREG_VOLUME_PARAMETERS,
             __global const u32 *      sorted,
             __global const Workload * workloads,
             __local u64 *             scratch,
             __global u64 *            sumsOfWorkloads)
{
  const int           variant = arguments.histogram.samples.variant;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  ConflictFreeGroup(GPUREG_VARIANT, &arguments, &maps, &volumes, sorted, workloads, scratch, sumsOfWorkloads);
}

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
JoinWorkloads(int                  columns,
              __global const u32 * firstWorkloads,
              __global const u64 * sumsOfWorkloads,
              __local u64 *        scratch,
              __global u64 *       histogram)
{
  JoinWorkloadsGroup(columns, firstWorkloads, sumsOfWorkloads, scratch, histogram);
}
