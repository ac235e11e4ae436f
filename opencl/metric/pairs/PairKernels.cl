// SPDX-License-Identifier: Apache-2.0
// The metrics that are sums over pairs of values in OpenCL C: the entry point. src/kernels/metric/pairs/ValuePairKernels.h has the work of
// a group; opencl/metric/pairs/PairPasses.cpp launches it.

// The host defines GPUREG_TASK, a task's number, or `task` for a kernel of all tasks, and GPUREG_BATCH for the entry point of batches,
// which is a program of its own.

#ifndef GPUREG_BATCH
GPUREG_KERNEL void
SumPairs(const MetricArguments arguments,
         const SampleMaps      maps,
         GPUREG_VOLUME_PARAMETERS,
         __global const float * evaluated,
         __local float *        scratch,
         __global float *       partials,
         __global float *       forces)
{
  const int           variant = arguments.samples.variant;
  const int           task = arguments.task;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  PairGroup(GPUREG_VARIANT,
            GPUREG_TASK,
            &arguments,
            &maps,
            &volumes,
            evaluated,
            GroupIndex(),
            GroupIndex(),
            scratch,
            partials,
            forces);
}

#else

GPUREG_KERNEL void
SumBatch(const MetricArguments       arguments,
         __global const SampleMaps * batch,
         GPUREG_VOLUME_PARAMETERS,
         int              firstCandidate,
         __local float *  scratch,
         __global float * partials)
{
  const int           variant = arguments.samples.variant;
  const int           task = arguments.task;
  const SampleVolumes volumes = MakeSampleVolumes(GPUREG_VOLUMES);
  BatchPairGroup(GPUREG_VARIANT, GPUREG_TASK, &arguments, batch, firstCandidate, &volumes, scratch, partials);
}

#endif
