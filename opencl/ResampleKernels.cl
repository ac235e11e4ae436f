// SPDX-License-Identifier: Apache-2.0
// The resampler in OpenCL C: the entry point. What a voxel is made of is in src/kernels/Resample.h;
// opencl/ResamplePasses.cpp launches it.
//
// Whoever compiles defines GPUREG_INTERPOLATION, GPUREG_HAS_PARTS, and the host's sizes of the structures.

// They are handed over as bytes: this does not compile where the two disagree.
typedef char ResampleArgumentsAreLaidOutAlike[sizeof(ResampleArguments) == GPUREG_ARGUMENT_BYTES ? 1 : -1];
typedef char ChainPartsAreLaidOutAlike[sizeof(ChainPart) == GPUREG_PART_BYTES ? 1 : -1];

__kernel __attribute__((reqd_work_group_size(GPUREG_LANES, 1, 1))) void
Resample(const ResampleArguments    arguments,
         i64                        firstRow,
         int                        rowCount,
         __global const ChainPart * parts,
         __global const float4 *    vectors,
         __global const real *      input,
         __global const real *      outside,
         __global real *            output)
{
  const int columns = 32;
  const int x = BandIndex() * columns + LaneIndex() % columns;
  const int row = GroupIndex() * (GPUREG_LANES / columns) + LaneIndex() / columns;
  if (x >= arguments.outputSize[0] || row >= rowCount)
  {
    return;
  }
  const i64       absolute = firstRow + row;
  const int       z = (int)(absolute / arguments.outputSize[1]);
  const int       y = (int)(absolute - (i64)z * arguments.outputSize[1]);
  __global real * voxel = output + ((i64)row * arguments.outputSize[0] + x) * arguments.components;
  ResampleVoxel(GPUREG_INTERPOLATION, GPUREG_HAS_PARTS, &arguments, parts, vectors, input, outside, x, y, z, voxel);
}
