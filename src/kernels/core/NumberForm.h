// SPDX-License-Identifier: Apache-2.0
// The types of the numbers in an array, and how kernels that compute with floats read the short ones.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_NumberForm_h
#define gpureg_kernels_NumberForm_h

GPUREG_NAMESPACE_BEGIN

/** The number types, in the order of gpureg::NumberType. */
typedef enum NumberForm
{
  NumberIsBool,
  NumberIsU8,
  NumberIsI8,
  NumberIsU16,
  NumberIsI16,
  NumberIsU32,
  NumberIsI32,
  NumberIsU64,
  NumberIsI64,
  NumberIsFloat,
  NumberIsDouble
} NumberForm;

/** Returns number n of an array of floats, or of integers of up to 16 bits, which floats hold exactly. */
GPUREG_FUNCTION float
ReadShortNumber(GPUREG_GLOBAL const void * numbers, int form, i64 n)
{
  switch (form)
  {
    case NumberIsU8:
      return (float)((GPUREG_GLOBAL const u8 *)numbers)[n];
    case NumberIsI8:
      return (float)((GPUREG_GLOBAL const signed char *)numbers)[n];
    case NumberIsU16:
      return (float)((GPUREG_GLOBAL const u16 *)numbers)[n];
    case NumberIsI16:
      return (float)((GPUREG_GLOBAL const short *)numbers)[n];
    default:
      return ((GPUREG_GLOBAL const float *)numbers)[n];
  }
}

GPUREG_NAMESPACE_END

#endif
