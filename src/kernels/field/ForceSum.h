// SPDX-License-Identifier: Apache-2.0
// The sum of several similarities' forces, as itk::ObjectToObjectMultiMetricv4 adds up derivatives: each one divided by its magnitude,
// which is the root of the sum of its squares over all voxels, and multiplied by its weight.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ForceSum_h
#define gpureg_kernels_ForceSum_h

GPUREG_NAMESPACE_BEGIN

/** Numbers that describe the forces of one similarity: floats, which stay on the device. */
enum
{
  ForceLargest = 0, /* the largest absolute value of an element */
  ForceSquares = 1, /* the sum of the squares of the elements, each divided by the largest one */
  ForceFactor = 2,  /* the weight divided by the magnitude */
  ForceNumbers = 3
};

/** A magnitude that counts as 0: such forces are of rounding alone. */
#define GPUREG_LEAST_FORCES 1e-30f

/** Writes the sum of the squares of a strip of elements, each divided by the largest one, so that no square leaves the range of floats. */
GPUREG_FUNCTION void
SumSquaredForces(const Strips *              strips,
                 GPUREG_GLOBAL const float * forces,
                 GPUREG_GLOBAL const float * numbers,
                 GPUREG_GLOBAL float *       sums,
                 i64                         strip)
{
  const i64   end = EndOfStrip(strips, strip);
  const i64   step = StepOfStrip(strips);
  const float largest = numbers[ForceLargest];
  const float factor = largest > GPUREG_LEAST_FORCES ? 1.0f / largest : 0.0f;
  float       sum = 0.0f;
  GPUREG_UNROLL_8 for (i64 n = BeginOfStrip(strips, strip); n < end; n += step)
  {
    const float part = factor * forces[n];
    sum = MultiplyAdd(part, part, sum);
  }
  sums[strip] = sum;
}

GPUREG_ITEM_KERNEL(SumSquaredForces, 16, "measuring forces");

/** Writes the factor of forces in the sum. Forces of 0 count as 0. For one item. */
GPUREG_FUNCTION void
ComputeForceFactor(float weight, GPUREG_GLOBAL float * numbers, i64 item)
{
  const float magnitude = numbers[item + ForceLargest] * SqrtOf(numbers[item + ForceSquares]);
  numbers[item + ForceFactor] = magnitude > GPUREG_LEAST_FORCES ? weight / magnitude : 0.0f;
}

GPUREG_ITEM_KERNEL(ComputeForceFactor, 1, "adding up forces");

/** Adds an element of forces to the sum; the first forces replace it, and may lie there. Moves 36 bytes a voxel, 24 for the first
 *  forces. */
GPUREG_FUNCTION void
AddForceToSum(int                         isFirst,
              GPUREG_GLOBAL const float * numbers,
              GPUREG_GLOBAL const float * forces,
              GPUREG_GLOBAL float *       sum,
              i64                         item)
{
  const float added = numbers[ForceFactor] * forces[item];
  sum[item] = isFirst ? added : sum[item] + added;
}

GPUREG_ITEM_KERNEL(AddForceToSum, 1 << 14, "adding up forces");

GPUREG_NAMESPACE_END

#endif
