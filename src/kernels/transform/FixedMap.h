// SPDX-License-Identifier: Apache-2.0
// Affine maps of an integer index in fixed point, with 32 integer bits and 32 fractional bits.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FixedMap_h
#define gpureg_kernels_FixedMap_h

GPUREG_NAMESPACE_BEGIN

/** 1 and 1/2 in units of 2^-32. */
#define GPUREG_FIXED_ONE ((i64)1 << 32)
#define GPUREG_FIXED_HALF ((i64)1 << 31)

/** 2^-32 and 2^32, the factors that convert such numbers to floats, and back. */
#define GPUREG_FIXED_UNIT 2.3283064365386963e-10f
#define GPUREG_FIXED_UNITS 4294967296.0f

/** position = M·index + t, in units of 2^-32 voxel, by rows: M00 M01 M02 t0, M10 … A float index of 500 is exact to 3e-5 voxel, which
 *  shows in an image; a fixed-point one to 1e-7, on devices without doubles, too, and its integer part is the cell, without a
 *  conversion. M is rounded, by up to 2^-33, so index n has an error of n times that: 1e-6 voxel for 10 000. */
typedef struct FixedMap
{
  i64 row[12];
} FixedMap;

GPUREG_FUNCTION i64
ApplyFixedRow(const FixedMap * map, int r, int x, int y, int z)
{
  return map->row[4 * r] * x + map->row[4 * r + 1] * y + map->row[4 * r + 2] * z + map->row[4 * r + 3];
}

#ifndef GPUREG_HAS_WIDE_PRODUCT
/** Returns (a·b + addend)/2^32, rounded down, from 32-bit halves, where the language has no 128-bit integers. The addend is less than
 *  2^32. */
GPUREG_FUNCTION i64
MultiplyWide(i64 a, i64 b, i64 addend)
{
  const u64 lowA = (u32)a;
  const u64 lowB = (u32)b;
  return (a >> 32) * b + (b >> 32) * (i64)lowA + (i64)((lowA * lowB + (u64)addend) >> 32);
}
#endif

/** Returns a·b of two numbers in units of 2^-32, rounded down. */
GPUREG_FUNCTION i64
MultiplyFixed(i64 a, i64 b)
{
  return MultiplyWide(a, b, 0);
}

/** Returns a·b of two numbers in units of 2^-32, rounded to the nearest: over many products, errors of rounding down would add up. */
GPUREG_FUNCTION i64
MultiplyFixedToNearest(i64 a, i64 b)
{
  return MultiplyWide(a, b, GPUREG_FIXED_HALF);
}

/** Returns ln n of n > 0 in units of 2^-32, exact to a few of these; a float near 30 is exact to 1e-6 only. With n = m·2^e and 1/√2 <= m
 *  <= √2, ln n = e ln 2 + 2 atanh((m - 1)/(m + 1)). */
GPUREG_FUNCTION i64
FixedLogOf(u64 n)
{
  const i64 one = GPUREG_FIXED_ONE;
  int       exponent = 63;
  for (int shift = 32; shift > 0; shift /= 2)
  {
    if (n >> (64 - shift) == 0)
    {
      n <<= shift;
      exponent -= shift;
    }
  }
  i64 m = (i64)(n >> 31);
  if (m > 6074001000) /* 2^(1/2) */
  {
    m = (i64)(n >> 32);
    ++exponent;
  }
  const i64 z = (m - one) * one / (m + one);
  const i64 square = MultiplyFixed(z, z);
  i64       series = 0;
  for (int odd = 13; odd > 0; odd -= 2)
  {
    series = one / odd + MultiplyFixed(series, square);
  }
  /* 2^40 ln 2 */
  return (exponent * 762123384786) / 256 + 2 * MultiplyFixed(series, z);
}

/** Applies row r of a map to a position between voxels, itself in units of 2^-32. */
GPUREG_FUNCTION i64
ApplyFixedRowAt(const FixedMap * map, int r, const i64 * position)
{
  return MultiplyFixed(map->row[4 * r], position[0]) + MultiplyFixed(map->row[4 * r + 1], position[1]) +
         MultiplyFixed(map->row[4 * r + 2], position[2]) + map->row[4 * r + 3];
}

/** Returns the integer part of a fixed-point position. */
GPUREG_FUNCTION int
IntegerPart(i64 position)
{
  return (int)(position >> 32);
}

/** Computes the fractional part of a fixed-point position, in [0, 1]: rounded to float it may be 1. */
GPUREG_REAL_FUNCTION void
ComputeFraction(i64 position, real * fraction)
{
  *fraction = (real)(u32)position * (real)GPUREG_FIXED_UNIT;
}

/** A displacement of this size or more leads out of every image: it is clamped to this cell, or, if it is negative or NaN, to the cell
 *  of the other sign. */
#define GPUREG_FARTHEST_DISPLACEMENT 1073741824.0f
#define GPUREG_FARTHEST_CELL 2147483000

/** Adds displacement to cell + fraction. */
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

/** Returns a displacement in units of 2^-32. A displacement of GPUREG_FARTHEST_DISPLACEMENT or more, or NaN, is clamped as in
 *  MovePosition. */
GPUREG_FUNCTION i64
ToFixed(float displacement)
{
  if (displacement > -GPUREG_FARTHEST_DISPLACEMENT && displacement < GPUREG_FARTHEST_DISPLACEMENT)
  {
    return (i64)(displacement * GPUREG_FIXED_UNITS);
  }
  return (displacement > 0.0f ? (i64)GPUREG_FARTHEST_DISPLACEMENT : -(i64)GPUREG_FARTHEST_DISPLACEMENT) *
         ((i64)1 << 32);
}

GPUREG_NAMESPACE_END

#endif
