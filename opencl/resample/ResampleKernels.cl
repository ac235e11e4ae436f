// SPDX-License-Identifier: Apache-2.0
// The resampler in OpenCL C: the entry point. src/kernels/resample/ResampleKernels.h has the work of a group;
// opencl/resample/ResamplePasses.cpp launches it.
//
// The host defines GPUREG_FOLLOWS_ROWS as 1 if the chain is ChainFollowsRows, and otherwise as 0; and either GPUREG_INTERPOLATION,
// GPUREG_CHAIN and GPUREG_IS_SCALAR, or GPUREG_IS_GENERAL for a kernel of all cases.
//
// The kernel that follows rows has a barrier, the other one has none, and no kernel chooses between them at run time, where the barrier
// would be in one branch. PoCL 5.0 compiled that kernel so that in most builds every lane computed lane 0's voxels, without an error.

#ifdef GPUREG_IS_GENERAL
#  define GPUREG_INTERPOLATION arguments.interpolation
#  define GPUREG_CHAIN arguments.chain
#  define GPUREG_IS_SCALAR (arguments.components == 1)
#endif

GPUREG_KERNEL void
Resample(const ResampleArguments    arguments,
         __global const ChainPart * parts,
         __global const float4 *    vectors,
         __global const real *      input,
         __global const real *      outside,
         __global real *            output)
{
  const int components = GPUREG_IS_SCALAR ? 1 : arguments.components;
#if GPUREG_FOLLOWS_ROWS
  __local real columns[3 * MaximumRowColumns * (GPUREG_LANES / ResampleRowLanes)];
  ResampleRows(GPUREG_INTERPOLATION, components, &arguments, parts, vectors, input, outside, columns, output);
#else
  ResampleTile(GPUREG_INTERPOLATION, GPUREG_CHAIN, components, &arguments, parts, vectors, input, outside, output);
#endif
}
