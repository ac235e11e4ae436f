// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over all voxels, one item a strip. A second launch, over the strips' results, joins these.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldReduction_h
#define gpureg_kernels_FieldReduction_h

GPUREG_NAMESPACE_BEGIN

/** Writes the length, in voxels, of the longest vector in a strip of a field. */
GPUREG_FUNCTION void
FindLongestOfStrip(const FieldGrid *           grid,
                   const Strips *              strips,
                   GPUREG_GLOBAL const float * field,
                   GPUREG_GLOBAL float *       longest,
                   i64                         strip)
{
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     largest = 0.0f;
  for (i64 voxel = BeginOfStrip(strips, strip); voxel < end; voxel += step)
  {
    largest = LargerOf(largest, FindLengthOfVector(grid, field, voxel));
  }
  longest[strip] = largest;
}

GPUREG_ITEM_KERNEL(FindLongestOfStrip, 16, "measuring a field");

/** Writes the largest number in a strip, which has at least one. */
GPUREG_FUNCTION void
FindLargestOfStrip(const Strips * strips, GPUREG_GLOBAL const float * numbers, GPUREG_GLOBAL float * largest, i64 strip)
{
  const i64 begin = BeginOfStrip(strips, strip);
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     found = numbers[begin];
  for (i64 n = begin; n < end; n += step)
  {
    found = LargerOf(found, numbers[n]);
  }
  largest[strip] = found;
}

GPUREG_ITEM_KERNEL(FindLargestOfStrip, 16, "measuring a field");

/** Writes the sum of the numbers in a strip. */
GPUREG_FUNCTION void
SumStrip(const Strips * strips, GPUREG_GLOBAL const float * numbers, GPUREG_GLOBAL float * sums, i64 strip)
{
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     sum = 0.0f;
  for (i64 n = BeginOfStrip(strips, strip); n < end; n += step)
  {
    sum += numbers[n];
  }
  sums[strip] = sum;
}

GPUREG_ITEM_KERNEL(SumStrip, 16, "adding up numbers");

GPUREG_NAMESPACE_END

#endif
