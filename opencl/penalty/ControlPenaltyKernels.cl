// SPDX-License-Identifier: Apache-2.0
// The penalties of a free-form deformation in OpenCL C: the entry points. What a group does is in
// src/kernels/penalty/ControlPenaltyKernels.h; opencl/penalty/ControlPenaltyPasses.cpp launches them.

GPUREG_KERNEL void
FindEnergies(const ControlPenaltyArguments arguments,
             __global const float4 *       points,
             __global float *              partials,
             const i64                     firstPartial,
             const int                     writesNodeDerivatives,
             __global float4 *             nodeDerivatives)
{
  __local float scratch[2 * GPUREG_LANES];
  FindEnergiesGroup(&arguments, points, scratch, partials + 2 * firstPartial, writesNodeDerivatives, nodeDerivatives);
}

GPUREG_KERNEL void
CollectGradient(const ControlPenaltyArguments arguments,
                __global const float4 *       nodeDerivatives,
                const float                   factor,
                const int                     adds,
                __global float4 *             gradient)
{
  CollectNumberedPoint(&arguments, nodeDerivatives, FindItem(), factor, adds, gradient);
}
