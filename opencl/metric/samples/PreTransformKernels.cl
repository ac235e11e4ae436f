// SPDX-License-Identifier: Apache-2.0
// Grids before a linear transform that is optimised, in OpenCL C: the entry points. What a lane does is in
// src/kernels/metric/samples/PreTransformMoves.h, what a group does in src/kernels/metric/samples/PreTransformKernels.h; opencl/metric/samples/PreTransformPasses.cpp launches them.

GPUREG_KERNEL void
MoveByPreTransform(const PreTransformArguments a,
                   const i64                   count,
                   __global const i64 *        points,
                   __global const ChainPart *  parts,
                   __global const float4 *     vectors,
                   __global float *            displacement)
{
  const i64 sample = FindItem();
  if (sample < count)
  {
    float moved[3];
    MoveByPreTransforms(&a, points, parts, vectors, sample, moved);
    displacement[3 * sample] = moved[0];
    displacement[3 * sample + 1] = moved[1];
    displacement[3 * sample + 2] = moved[2];
  }
}

GPUREG_KERNEL void
MoveByPreTransformPrecisely(const PreTransformArguments a,
                            const i64                   count,
                            __global const i64 *        points,
                            __global const ChainPart *  parts,
                            __global const i64 *        vectors,
                            __global i64 *              precise,
                            __global float *            displacement)
{
  const i64 sample = FindItem();
  if (sample < count)
  {
    i64   moved[3];
    float rounded[3];
    MoveByPreTransformsPrecisely(&a, points, parts, vectors, sample, moved);
    RoundPreTransformMove(moved, rounded);
    for (int r = 0; r < 3; ++r)
    {
      precise[3 * sample + r] = moved[r];
      displacement[3 * sample + r] = rounded[r];
    }
  }
}

GPUREG_KERNEL void
CarryPreTransform(const PreTransformCarry carry, const i64 count, __global const i64 * precise, __global i64 * moves)
{
  const i64 sample = FindItem();
  if (sample < count)
  {
    i64 moved[3] = { precise[3 * sample], precise[3 * sample + 1], precise[3 * sample + 2] };
    CarryPrecisely(carry.entries, moved);
    for (int r = 0; r < 3; ++r)
    {
      moves[3 * sample + r] = moved[r];
    }
  }
}

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
