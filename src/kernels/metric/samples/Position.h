// SPDX-License-Identifier: Apache-2.0
// A position in a volume: a continuous index relative to the buffer's first voxel, as a 64-bit integer along each axis in units of 2^-32
// voxel. A float of about 200 is exact to 1e-5 voxel only, which moved samples across edges and showed in derivatives with 100 bins. An
// integer is equally exact everywhere, on devices without doubles, too.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Position_h
#define gpureg_kernels_Position_h

GPUREG_NAMESPACE_BEGIN

/** Returns the fractional part of a position, in [0, 1]: rounded to float it may be 1. */
GPUREG_FUNCTION float
FractionOf(i64 position)
{
  return (float)(u32)position * GPUREG_FIXED_UNIT;
}

/** Returns the integer nearest to a position, the larger one of two equally near. */
GPUREG_FUNCTION int
NearestTo(i64 position)
{
  return IntegerPart(position) + (int)((u32)position >> 31);
}

/** Returns 1 if a position is in ITK's half-open box [-0.5, size - 0.5). */
GPUREG_FUNCTION int
IsPositionInside(const VolumeShape * shape, const i64 * position)
{
  int isInside = 1;
  for (int d = 0; d < 3; ++d)
  {
    isInside &= (u32)NearestTo(position[d]) < (u32)shape->size[d];
  }
  return isInside;
}

/** Returns the offset of the voxel that is nearest to a position inside. */
GPUREG_FUNCTION i64
NearestVoxelOffset(const VolumeShape * shape, const i64 * position)
{
  return VoxelOffset(shape, NearestTo(position[0]), NearestTo(position[1]), NearestTo(position[2]));
}

/** Computes the virtual position of a sample, which is a point or a voxel of the grid. */
GPUREG_FUNCTION void
ComputeSamplePosition(
  const VolumeShape * shape, int isPoint, GPUREG_GLOBAL const i64 * points, i64 sample, i64 * position)
{
  if (isPoint)
  {
    position[0] = points[3 * sample];
    position[1] = points[3 * sample + 1];
    position[2] = points[3 * sample + 2];
    return;
  }
  const i64 row = sample / shape->size[0];
  position[0] = (sample - row * shape->size[0]) << 32;
  position[1] = (row % shape->size[1]) << 32;
  position[2] = (row / shape->size[1]) << 32;
}

GPUREG_NAMESPACE_END

#endif
