// SPDX-License-Identifier: Apache-2.0
// The numbers of a line of control points in OpenCL C: the entry points. What a group does is in
// src/kernels/registration/free_form/ControlLineKernels.h; opencl/registration/free_form/ControlLinePasses.cpp launches them.

GPUREG_KERNEL void
Conjugate(const i64               count,
          const int               isConjugate,
          __global const float4 * gradient,
          __global const float4 * lastGradient,
          __global float *        numbers,
          __local float *         scratch)
{
  ConjugateGroup(count, isConjugate, gradient, lastGradient, scratch, numbers);
}

GPUREG_KERNEL void
FindLongest(const i64 count, __global const float4 * direction, __global float * numbers, __local float * scratch)
{
  LongestGroup(count, direction, scratch, numbers);
}
