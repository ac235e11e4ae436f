// SPDX-License-Identifier: Apache-2.0
// Affine maps of an integer index: 32 bits before the point and 32 behind it.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FixedMap_h
#define gpureg_kernels_FixedMap_h

GPUREG_NAMESPACE_BEGIN

/** position = M·index + t, in units of 2^-32 voxel, by rows: M00 M01 M02 t0, M10 … A float index of 500
 *  is known to 3e-5 voxel, which shows in an image; this one to 1e-7, on devices without doubles, too,
 *  and what lies in front of the point is a cell, without a conversion. M is rounded, by up to 2^-33: index n is off by
 *  n times that, 1e-6 voxel for 10 000. */
typedef struct FixedMap
{
  i64 row[12];
} FixedMap;

GPUREG_FUNCTION i64
ApplyFixedRow(const FixedMap * map, int r, int x, int y, int z)
{
  return map->row[4 * r] * x + map->row[4 * r + 1] * y + map->row[4 * r + 2] * z + map->row[4 * r + 3];
}

/** The whole part of a fixed-point position, … */
GPUREG_FUNCTION int
CellOf(i64 position)
{
  return (int)(position >> 32);
}

/** … and the rest, in [0, 1]: as a float it may round up to 1. */
GPUREG_REAL_FUNCTION void
FindFraction(i64 position, real * fraction)
{
  *fraction = (real)(u32)position * (real)2.3283064365386963e-10f;
}

/** A displacement of this size or beyond it leads out of every image, to this cell or, if it is negative or NaN, to
 *  that of the other sign. */
#define GPUREG_FARTHEST_DISPLACEMENT 1073741824.0f
#define GPUREG_FARTHEST_CELL 2147483000

/** cell + fraction += displacement. */
GPUREG_REAL_FUNCTION void
MovePosition(real displacement, int * cell, real * fraction)
{
  const real moved = *fraction + displacement;
  const real whole = FloorOf(moved);
  if (whole > -GPUREG_FARTHEST_DISPLACEMENT && whole < GPUREG_FARTHEST_DISPLACEMENT)
  {
    *cell += (int)whole;
    *fraction = moved - whole;
  }
  else
  {
    *cell = whole > 0.0f ? GPUREG_FARTHEST_CELL : -GPUREG_FARTHEST_CELL;
    *fraction = 0.0f;
  }
}

GPUREG_NAMESPACE_END

#endif
