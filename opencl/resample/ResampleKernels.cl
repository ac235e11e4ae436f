// SPDX-License-Identifier: Apache-2.0
// The resampler in OpenCL C: the entry point. src/kernels/resample/ResampleKernels.h has the work of a group;
// opencl/resample/ResamplePasses.cpp launches it.
//
// The host defines GPUREG_INTERPOLATION, GPUREG_CHAIN and GPUREG_IS_SCALAR, or GPUREG_IS_GENERAL for a kernel of all cases.

#ifdef GPUREG_IS_GENERAL
#  define GPUREG_INTERPOLATION arguments.interpolation
#  define GPUREG_CHAIN arguments.chain
#  define GPUREG_IS_SCALAR (arguments.components == 1)
#  define GPUREG_MAY_FOLLOW_ROWS 1
#else
#  define GPUREG_MAY_FOLLOW_ROWS (GPUREG_CHAIN == ChainFollowsRows)
#endif

GPUREG_KERNEL void
Resample(const ResampleArguments    arguments,
         __global const ChainPart * parts,
         __global const float4 *    vectors,
         __global const real *      input,
         __global const real *      outside,
         __global real *            output)
{
  __local real columns[GPUREG_MAY_FOLLOW_ROWS ? 3 * MaximumRowColumns * (GPUREG_LANES / ResampleRowLanes) : 1];
  ResampleGroup(GPUREG_INTERPOLATION,
                GPUREG_CHAIN,
                GPUREG_IS_SCALAR ? 1 : arguments.components,
                &arguments,
                parts,
                vectors,
                input,
                outside,
                columns,
                output);
}
