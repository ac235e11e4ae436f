// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over all voxels, strip by strip: an item reads each strips-th voxel from its own number on, so that neighbouring lanes read
// side by side, and the result is the same however many threads or lanes there are. A second launch with one strip joins those.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldReduction_h
#define gpureg_kernels_FieldReduction_h

GPUREG_NAMESPACE_BEGIN

/** Writes the length, in voxels, of the longest vector in a strip of a field of count vectors. */
GPUREG_FUNCTION void
FindLongestOfStrip(const FieldGrid *           grid,
                   GPUREG_GLOBAL const float * field,
                   i64                         count,
                   i64                         strips,
                   GPUREG_GLOBAL float *       longest,
                   i64                         item)
{
  float largest = 0.0f;
  for (i64 voxel = item; voxel < count; voxel += strips)
  {
    largest = LargerOf(largest, FindLengthOfVector(grid, field, voxel));
  }
  longest[item] = largest;
}

GPUREG_ITEM_KERNEL(FindLongestOfStrip, 16, "measuring a field");

/** Writes the largest of count numbers in a strip, from slot on: largest[slot + item]. */
GPUREG_FUNCTION void
FindLargestOfStrip(GPUREG_GLOBAL const float * numbers, i64 count, i64 strips, GPUREG_GLOBAL float * largest, i64 item)
{
  float found = numbers[item];
  for (i64 n = item; n < count; n += strips)
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
  for (i64 n = item; n < count; n += strips)
  {
    sum += numbers[n];
  }
  sums[item] = sum;
}

GPUREG_ITEM_KERNEL(SumStrip, 16, "adding up numbers");

/** Writes the largest of count numbers in a strip, and the sum of count addends in it: numbers and addends are one array at first. */
GPUREG_FUNCTION void
FindLargestAndSumOfStrip(GPUREG_GLOBAL const float * numbers,
                         GPUREG_GLOBAL const float * addends,
                         i64                         count,
                         i64                         strips,
                         GPUREG_GLOBAL float *       largest,
                         GPUREG_GLOBAL float *       sums,
                         i64                         item)
{
  float found = numbers[item];
  float sum = 0.0f;
  for (i64 n = item; n < count; n += strips)
  {
    found = LargerOf(found, numbers[n]);
    sum += addends[n];
  }
  largest[item] = found;
  sums[item] = sum;
}

GPUREG_ITEM_KERNEL(FindLargestAndSumOfStrip, 16, "measuring a field");

GPUREG_NAMESPACE_END

#endif
