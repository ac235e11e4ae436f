// SPDX-License-Identifier: Apache-2.0
// The work-groups that look at all control points between two steps, for the devices that have work-groups: CUDA and OpenCL. One
// group does all: some hundred thousand vectors, always in one order.
// src/host/registration/free_form/ControlLinePasses.cpp says the same in plain loops and is what this is tested against.
#ifndef gpureg_kernels_ControlLineKernels_h
#define gpureg_kernels_ControlLineKernels_h

GPUREG_NAMESPACE_BEGIN

/** Computes numbers[LineProduct], and numbers[LineConjugation], which is 0 unless the line is to be conjugate to the last one. */
GPUREG_GROUP_FUNCTION void
ConjugateGroup(i64                          count,
               int                          isConjugate,
               GPUREG_GLOBAL const float4 * gradient,
               GPUREG_GLOBAL const float4 * lastGradient,
               GPUREG_GLOBAL float *        numbers,
               GPUREG_LOCAL float *         scratch)
{
  float squares = 0.0f;
  float squaresNow = 0.0f;
  float product = 0.0f;
  for (i64 point = LaneIndex(); point < count; point += LaneCount())
  {
    const float4 g = gradient[point];
    const float4 last = lastGradient[point];
    squares += Dot3(last, last);
    squaresNow += Dot3(g, g);
    product += Dot3(last, g);
  }
  squares = SumOverLanes(squares, scratch);
  squaresNow = SumOverLanes(squaresNow, scratch);
  product = SumOverLanes(product, scratch);
  if (LaneIndex() == 0)
  {
    const float change = squaresNow - product;
    numbers[LineProduct] = product;
    numbers[LineConjugation] = isConjugate && squares > 0.0f && change > 0.0f ? change / squares : 0.0f;
  }
}

GPUREG_GROUP_KERNEL(ConjugateGroup, 1024, 32, "conjugating a direction");

/** Computes numbers[LineLongest] of a direction. */
GPUREG_GROUP_FUNCTION void
LongestGroup(i64                          count,
             GPUREG_GLOBAL const float4 * direction,
             GPUREG_GLOBAL float *        numbers,
             GPUREG_LOCAL float *         scratch)
{
  float largest = 0.0f;
  for (i64 point = LaneIndex(); point < count; point += LaneCount())
  {
    largest = LargerOf(largest, Dot3(direction[point], direction[point]));
  }
  largest = LargestOverLanes(largest, scratch);
  if (LaneIndex() == 0)
  {
    numbers[LineLongest] = SqrtOf(largest);
  }
}

GPUREG_GROUP_KERNEL(LongestGroup, 1024, 32, "measuring a direction");

GPUREG_NAMESPACE_END

#endif
