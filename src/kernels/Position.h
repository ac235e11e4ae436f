// SPDX-License-Identifier: Apache-2.0
// A position in a volume: a continuous index relative to the buffer's first voxel, as a 64-bit integer along each axis
// in units of 2^-32 voxel. A float of 200 is known to 1e-5 voxel, by which a sample may fall to the other side of an edge,
// and which 100 bins show; this is as exact everywhere, on devices without doubles, too.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Position_h
#define gpureg_kernels_Position_h

GPUREG_NAMESPACE_BEGIN

/** 1 and 1/2 in units of 2^-32. */
#define GPUREG_FIXED_ONE ((i64)1 << 32)
#define GPUREG_FIXED_HALF ((i64)1 << 31)

/** 2^-32, what such numbers are multiplied by to become floats. */
#define GPUREG_FIXED_UNIT 2.3283064365386963e-10f

/** The part of a position behind the point, in [0, 1]: rounded to float it may be 1. */
GPUREG_FUNCTION float
FractionOf(i64 position)
{
  return (float)(u32)position * GPUREG_FIXED_UNIT;
}

/** ITK's half-open box [-0.5, size - 0.5). */
GPUREG_FUNCTION int
IsPositionInside(const VolumeShape * shape, const i64 * position)
{
  int isInside = 1;
  for (int d = 0; d < 3; ++d)
  {
    isInside &= (u32)CellOf(position[d] + GPUREG_FIXED_HALF) < (u32)shape->size[d];
  }
  return isInside;
}

/** Offset of the voxel that is nearest to a position inside. */
GPUREG_FUNCTION i64
NearestVoxelOffset(const VolumeShape * shape, const i64 * position)
{
  return VoxelOffset(shape,
                     CellOf(position[0] + GPUREG_FIXED_HALF),
                     CellOf(position[1] + GPUREG_FIXED_HALF),
                     CellOf(position[2] + GPUREG_FIXED_HALF));
}

GPUREG_NAMESPACE_END

#endif
