// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over all voxels, strip by strip: an item reads each strips-th voxel from its own number on, so that neighbouring lanes read
// side by side, and the result is the same however many threads or lanes there are. Further launches join the strips.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldReduction_h
#define gpureg_kernels_FieldReduction_h

GPUREG_NAMESPACE_BEGIN

/** Writes the largest of count numbers in a strip, from slot on: largest[slot + item]. */
GPUREG_FUNCTION void
FindLargestOfStrip(GPUREG_GLOBAL const float * numbers, i64 count, i64 strips, GPUREG_GLOBAL float * largest, i64 item)
{
  float found = numbers[item];
  GPUREG_UNROLL_8 for (i64 n = item; n < count; n += strips)
  {
    found = LargerOf(found, numbers[n]);
  }
  largest[item] = found;
}

GPUREG_ITEM_KERNEL(FindLargestOfStrip, 16, "measuring a field");

/** Writes the sum of count numbers in a strip. */
GPUREG_FUNCTION void
SumStrip(GPUREG_GLOBAL const float * numbers, i64 count, i64 strips, GPUREG_GLOBAL float * sums, i64 item)
{
  float sum = 0.0f;
  GPUREG_UNROLL_8 for (i64 n = item; n < count; n += strips)
  {
    sum += numbers[n];
  }
  sums[item] = sum;
}

GPUREG_ITEM_KERNEL(SumStrip, 16, "adding up numbers");

GPUREG_NAMESPACE_END

#endif
