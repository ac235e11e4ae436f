// SPDX-License-Identifier: Apache-2.0
// Conversion between arrays of any number type and the types that the engine computes with.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_NumberTypes_h
#define gpureg_kernels_NumberTypes_h

GPUREG_NAMESPACE_BEGIN

/** Returns number n of an array. Integers of more than 53 bits are rounded. */
GPUREG_FUNCTION double
ReadNumber(GPUREG_GLOBAL const void * numbers, int form, i64 n)
{
  switch (form)
  {
    case NumberIsBool:
      return ((GPUREG_GLOBAL const u8 *)numbers)[n] != 0;
    case NumberIsU8:
      return ((GPUREG_GLOBAL const u8 *)numbers)[n];
    case NumberIsI8:
      return ((GPUREG_GLOBAL const signed char *)numbers)[n];
    case NumberIsU16:
      return ((GPUREG_GLOBAL const u16 *)numbers)[n];
    case NumberIsI16:
      return ((GPUREG_GLOBAL const short *)numbers)[n];
    case NumberIsU32:
      return ((GPUREG_GLOBAL const u32 *)numbers)[n];
    case NumberIsI32:
      return ((GPUREG_GLOBAL const int *)numbers)[n];
    case NumberIsU64:
      return (double)((GPUREG_GLOBAL const u64 *)numbers)[n];
    case NumberIsI64:
      return (double)((GPUREG_GLOBAL const i64 *)numbers)[n];
    case NumberIsFloat:
      return ((GPUREG_GLOBAL const float *)numbers)[n];
    default:
      return ((GPUREG_GLOBAL const double *)numbers)[n];
  }
}

/** Rounds value to the nearest integer, halves to the even one, and clamps it to [least, most]; 0 for NaN. */
GPUREG_FUNCTION double
RoundBetween(double value, double least, double most)
{
  const double below = FloorOf(value);
  const double above = value - below;
  const int    isOdd = below - 2 * FloorOf(0.5 * below) != 0;
  const double rounded = below + (above > 0.5 || (above == 0.5 && isOdd) ? 1 : 0);
  /* The difference of an infinite value to the integer below it is not a number. */
  const double whole = value - value == 0 ? rounded : value;
  return whole == whole ? (whole > least ? (whole < most ? whole : most) : least) : 0;
}

/** Writes number n of an array, rounded if its type is an integer. A bool is true from one half on. */
GPUREG_FUNCTION void
WriteNumber(GPUREG_GLOBAL void * numbers, int form, i64 n, double value)
{
  switch (form)
  {
    case NumberIsBool:
      ((GPUREG_GLOBAL u8 *)numbers)[n] = value >= 0.5;
      break;
    case NumberIsU8:
      ((GPUREG_GLOBAL u8 *)numbers)[n] = (u8)RoundBetween(value, 0, 255);
      break;
    case NumberIsI8:
      ((GPUREG_GLOBAL signed char *)numbers)[n] = (signed char)RoundBetween(value, -128, 127);
      break;
    case NumberIsU16:
      ((GPUREG_GLOBAL u16 *)numbers)[n] = (u16)RoundBetween(value, 0, 65535);
      break;
    case NumberIsI16:
      ((GPUREG_GLOBAL short *)numbers)[n] = (short)RoundBetween(value, -32768, 32767);
      break;
    case NumberIsU32:
      ((GPUREG_GLOBAL u32 *)numbers)[n] = (u32)RoundBetween(value, 0, 4294967295.0);
      break;
    case NumberIsI32:
      ((GPUREG_GLOBAL int *)numbers)[n] = (int)RoundBetween(value, -2147483648.0, 2147483647.0);
      break;
    case NumberIsU64:
    {
      /* 2^64 - 1 is no double; the next double is 2^64. */
      const double whole = RoundBetween(value, 0, 18446744073709551616.0);
      ((GPUREG_GLOBAL u64 *)numbers)[n] = whole < 18446744073709551616.0 ? (u64)whole : ~(u64)0;
      break;
    }
    case NumberIsI64:
    {
      const double whole = RoundBetween(value, -9223372036854775808.0, 9223372036854775808.0);
      ((GPUREG_GLOBAL i64 *)numbers)[n] = whole < 9223372036854775808.0 ? (i64)whole : (i64)(~(u64)0 >> 1);
      break;
    }
    case NumberIsFloat:
      ((GPUREG_GLOBAL float *)numbers)[n] = (float)value;
      break;
    default:
      ((GPUREG_GLOBAL double *)numbers)[n] = value;
  }
}

/** Writes number n as a value of an image; or, if isMask, of a mask: 1 unless the number is 0. */
GPUREG_REAL_FUNCTION void
NumberToReal(GPUREG_GLOBAL const void * numbers, int form, int isMask, GPUREG_GLOBAL real * values, i64 n)
{
  const double number = ReadNumber(numbers, form, n);
  values[n] = (real)(isMask ? (number != 0 ? 1.0 : 0.0) : number);
}

GPUREG_REAL_ITEM_KERNEL(NumberToReal, 16384, "reading an array's numbers");

/** Writes one value of an image as a number; see WriteNumber. */
GPUREG_REAL_FUNCTION void
RealToNumber(GPUREG_GLOBAL const real * values, int form, GPUREG_GLOBAL void * numbers, i64 n)
{
  WriteNumber(numbers, form, n, values[n]);
}

GPUREG_REAL_ITEM_KERNEL(RealToNumber, 16384, "writing an array's numbers");

GPUREG_NAMESPACE_END

#endif
