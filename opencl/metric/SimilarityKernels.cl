// SPDX-License-Identifier: Apache-2.0
// What makes a similarity of sums in OpenCL C: the entry point. What the group does is in src/kernels/metric/SimilaritySumKernels.h;
// opencl/metric/SimilarityPasses.cpp launches it.

GPUREG_KERNEL void
FindSimilarityOfSums(const SimilaritySums   a,
                     __global const float * partials,
                     __global float *       evaluated,
                     __local float *        scratch)
{
  SimilarityGroup(&a, partials, scratch, evaluated);
}
