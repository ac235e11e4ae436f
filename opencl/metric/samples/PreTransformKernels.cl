// SPDX-License-Identifier: Apache-2.0
// Grids before a linear transform that is optimised, in OpenCL C: the entry points. What a lane does is in
// src/kernels/metric/samples/PreTransformMoves.h, what a group does in src/kernels/metric/samples/PreTransformKernels.h; opencl/metric/samples/PreTransformPasses.cpp launches them.

GPUREG_KERNEL void
SumPreTransformForces(const PreTransformArguments a,
                      const i64                   count,
                      __global const i64 *        points,
                      __global const float *      displacement,
                      __global const float *      forces,
                      __local float *             scratch,
                      __global float *            partials)
{
  SumPreTransformForcesGroup(&a, count, points, displacement, forces, scratch, partials);
}
