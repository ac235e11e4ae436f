// SPDX-License-Identifier: Apache-2.0
// The schemes of the correlation ratio's first pass in OpenCL C: entry points. src/kernels/metric/histogram/CorrelationRatioSchemes.h has
// the work of a group; opencl/metric/histogram/CorrelationRatioSchemePasses.cpp launches them, with at most as many groups as chunks.

GPUREG_KERNEL void
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

GPUREG_KERNEL void
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

GPUREG_KERNEL void
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

GPUREG_KERNEL void
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

GPUREG_KERNEL void
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

GPUREG_KERNEL void
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

GPUREG_KERNEL void
JoinWorkloads(int                  columns,
              __global const u32 * firstWorkloads,
              __global const u64 * sumsOfWorkloads,
              __local u64 *        scratch,
              __global u64 *       histogram)
{
  JoinWorkloadsGroup(columns, firstWorkloads, sumsOfWorkloads, scratch, histogram);
}
