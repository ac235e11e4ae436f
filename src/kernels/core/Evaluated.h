// SPDX-License-Identifier: Apache-2.0
// The numbers that an evaluation leaves on its device, so that an optimizer that steps along the forces need not wait for the host.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Evaluated_h
#define gpureg_kernels_Evaluated_h

GPUREG_NAMESPACE_BEGIN

/** Places of the numbers in an array of floats. */
enum
{
  /** The factor by which forces are multiplied, besides a constant of the metric, to give the derivative of the value. */
  EvaluatedFactor = 0,
  EvaluatedValue = 1,
  /* For a correlation only: see PairCentring. */
  EvaluatedFixedMean = 2,
  EvaluatedMovingMean = 3,
  EvaluatedSlope = 4,
  EvaluatedNumbers = 5
};

/** The value if no sample is valid; no metric's value is negative. */
#define GPUREG_NO_EVALUATED_VALUE -1.0f

GPUREG_NAMESPACE_END

#endif
