// SPDX-License-Identifier: Apache-2.0
// The resampler in OpenCL C: the entry point. What a group does is in src/kernels/ResampleKernels.h;
// opencl/ResamplePasses.cpp launches it.
//
// Whoever compiles defines GPUREG_INTERPOLATION, GPUREG_CHAIN, GPUREG_IS_SCALAR, and the host's sizes of the structures.

// They are handed over as bytes: this does not compile where the two disagree.
typedef char ResampleArgumentsAreLaidOutAlike[sizeof(ResampleArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];
typedef char ChainPartsAreLaidOutAlike[sizeof(ChainPart) == GPUREG_PART_BYTES ? 1 : -1];

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
Resample(const ResampleArguments    arguments,
         __global const ChainPart * parts,
         __global const float4 *    vectors,
         __global const real *      input,
         __global const real *      outside,
         __global real *            output)
{
  __local real
    columns[GPUREG_CHAIN == ChainFollowsRows ? 3 * MaximumRowColumns * (GPUREG_LANES / ResampleRowLanes) : 1];
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
