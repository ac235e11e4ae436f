// SPDX-License-Identifier: Apache-2.0
// Moves the control points of a registration in OpenCL C: the entry points. The formulas are in
// src/kernels/registration/free_form/ControlSteps.h; opencl/registration/free_form/ControlStepPasses.cpp launches them.

GPUREG_KERNEL void
Clear(const i64 count, __global float4 * vectors)
{
  if (FindItem() < count)
  {
    vectors[FindItem()] = ZeroFloat4();
  }
}

GPUREG_KERNEL void
StepByAdam(const AdamStep          a,
           const i64               count,
           __global const float *  evaluated,
           const i64               evaluatedPlace,
           __global float *        values,
           const i64               valuePlace,
           __global const float4 * gathered,
           __global const float4 * penalty,
           __global float4 *       firstMeans,
           __global float4 *       secondMeans,
           __global float4 *       points)
{
  if (FindItem() == 0)
  {
    values[valuePlace] = evaluated[evaluatedPlace + EvaluatedValue];
  }
  if (FindItem() < count)
  {
    MoveByAdam(&a, FindItem(), evaluated + evaluatedPlace, gathered, penalty, firstMeans, secondMeans, points);
  }
}

GPUREG_KERNEL void
KeepValue(__global const float * evaluated, const i64 evaluatedPlace, __global float * values, const i64 valuePlace)
{
  if (FindItem() == 0)
  {
    values[valuePlace] = evaluated[evaluatedPlace + EvaluatedValue];
  }
}

GPUREG_KERNEL void
FindGradient(const float             similarity,
             const i64               count,
             __global const float *  evaluated,
             const i64               evaluatedPlace,
             __global const float4 * gathered,
             const int               hasPenalty,
             __global const float4 * penalty,
             __global float4 *       gradient)
{
  if (FindItem() < count)
  {
    gradient[FindItem()] =
      FindCostGradient(similarity, FindItem(), evaluated + evaluatedPlace, gathered, hasPenalty, penalty);
  }
}

GPUREG_KERNEL void
Conjugate(const i64               count,
          const int               isConjugate,
          __global const float4 * gradient,
          __global const float4 * lastGradient,
          __global float *        numbers,
          __local float *         scratch)
{
  ConjugateGroup(count, isConjugate, gradient, lastGradient, scratch, numbers);
}

GPUREG_KERNEL void
Turn(const i64               count,
     __global const float *  numbers,
     __global const float4 * gradient,
     __global float4 *       lastGradient,
     __global float4 *       direction)
{
  if (FindItem() < count)
  {
    TurnDirection(FindItem(), numbers, gradient, lastGradient, direction);
  }
}

GPUREG_KERNEL void
FindLongest(const i64 count, __global const float4 * direction, __global float * numbers, __local float * scratch)
{
  LongestGroup(count, direction, scratch, numbers);
}

GPUREG_KERNEL void
PlacePoints(const i64               count,
            const float             length,
            __global const float *  numbers,
            __global const float4 * begin,
            __global const float4 * direction,
            __global float4 *       points)
{
  if (FindItem() < count)
  {
    points[FindItem()] = PlaceOnLine(length, FindItem(), numbers, begin, direction);
  }
}

GPUREG_KERNEL void
Refine(const Refinement a, const i64 count, __global const float4 * coarse, __global float4 * fine)
{
  if (FindItem() < count)
  {
    fine[FindItem()] = RefineControlPoint(&a, coarse, FindItem());
  }
}
