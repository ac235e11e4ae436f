// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over all voxels, one item a strip. Further launches join the strips' results.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldReduction_h
#define gpureg_kernels_FieldReduction_h

GPUREG_NAMESPACE_BEGIN

/** Writes the largest number in a strip, which has at least one. */
GPUREG_FUNCTION void
ComputeLargestOfStrip(const Strips *              strips,
                      GPUREG_GLOBAL const float * numbers,
                      GPUREG_GLOBAL float *       largest,
                      i64                         strip)
{
  const i64 begin = BeginOfStrip(strips, strip);
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     found = numbers[begin];
  GPUREG_UNROLL_8 for (i64 n = begin; n < end; n += step)
  {
    found = LargerOf(found, numbers[n]);
  }
  largest[strip] = found;
}

GPUREG_ITEM_KERNEL(ComputeLargestOfStrip, 16, "measuring a field");

/** Writes the largest absolute value of the numbers in a strip; infinity if one of them is not a number. */
GPUREG_FUNCTION void
ComputeLargestMagnitudeOfStrip(const Strips *              strips,
                               GPUREG_GLOBAL const float * numbers,
                               GPUREG_GLOBAL float *       largest,
                               i64                         strip)
{
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     found = 0.0f;
  GPUREG_UNROLL_8 for (i64 n = BeginOfStrip(strips, strip); n < end; n += step)
  {
    const float magnitude = LargerOf(numbers[n], -numbers[n]);
    found = LargerOf(found, magnitude == magnitude ? magnitude : INFINITY);
  }
  largest[strip] = found;
}

GPUREG_ITEM_KERNEL(ComputeLargestMagnitudeOfStrip, 16, "measuring a field");

/** Writes the sum of the numbers in a strip. */
GPUREG_FUNCTION void
SumStrip(const Strips * strips, GPUREG_GLOBAL const float * numbers, GPUREG_GLOBAL float * sums, i64 strip)
{
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     sum = 0.0f;
  GPUREG_UNROLL_8 for (i64 n = BeginOfStrip(strips, strip); n < end; n += step)
  {
    sum += numbers[n];
  }
  sums[strip] = sum;
}

GPUREG_ITEM_KERNEL(SumStrip, 16, "adding up numbers");

/** Writes the largest of the numbers in a strip, which has at least one, and the sum of the addends in it: numbers and addends are one
 *  array at first. */
GPUREG_FUNCTION void
ComputeLargestAndSumOfStrip(const Strips *              strips,
                            GPUREG_GLOBAL const float * numbers,
                            GPUREG_GLOBAL const float * addends,
                            GPUREG_GLOBAL float *       largest,
                            GPUREG_GLOBAL float *       sums,
                            i64                         strip)
{
  const i64 begin = BeginOfStrip(strips, strip);
  const i64 end = EndOfStrip(strips, strip);
  const i64 step = StepOfStrip(strips);
  float     found = numbers[begin];
  float     sum = 0.0f;
  GPUREG_UNROLL_8 for (i64 n = begin; n < end; n += step)
  {
    found = LargerOf(found, numbers[n]);
    sum += addends[n];
  }
  largest[strip] = found;
  sums[strip] = sum;
}

GPUREG_ITEM_KERNEL(ComputeLargestAndSumOfStrip, 16, "measuring a field");

GPUREG_NAMESPACE_END

#endif
