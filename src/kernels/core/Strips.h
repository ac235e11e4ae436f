// SPDX-License-Identifier: Apache-2.0
// Strips of an array: each is reduced by one item, so a reduction's result does not depend on the number of threads or lanes.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Strips_h
#define gpureg_kernels_Strips_h

GPUREG_NAMESPACE_BEGIN

/** Describes how values are cut into strips. One item reads a strip. */
typedef struct Strips
{
  i64 count;          /* of values */
  int number;         /* of strips */
  int areInterleaved; /* strip n has every number-th value from the n-th on; else strips lie one behind the other */
} Strips;

/** Returns the first value of a strip. */
GPUREG_FUNCTION i64
BeginOfStrip(const Strips * strips, i64 strip)
{
  return strips->areInterleaved ? strip : strips->count * strip / strips->number;
}

/** Returns the end of a strip: a number behind its last value's. */
GPUREG_FUNCTION i64
EndOfStrip(const Strips * strips, i64 strip)
{
  return strips->areInterleaved ? strips->count : strips->count * (strip + 1) / strips->number;
}

/** Returns the distance between two values of a strip, in values. */
GPUREG_FUNCTION i64
StepOfStrip(const Strips * strips)
{
  return strips->areInterleaved ? strips->number : 1;
}

GPUREG_NAMESPACE_END

#endif
