// SPDX-License-Identifier: Apache-2.0
// Computes a similarity from sums in OpenCL C: the entry point. src/kernels/metric/SimilaritySumKernels.h has the group's work;
// opencl/metric/SimilarityPasses.cpp launches it.

GPUREG_KERNEL void
FindSimilarityOfSums(const SimilaritySums   a,
                     __global const float * partials,
                     __global float *       evaluated,
                     __local float *        scratch)
{
  SimilarityGroup(&a, partials, scratch, evaluated);
}
