// SPDX-License-Identifier: Apache-2.0
// What an evaluation leaves on its device, so that who steps along its forces need not wait for the host.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Evaluated_h
#define gpureg_kernels_Evaluated_h

GPUREG_NAMESPACE_BEGIN

/** Floats. */
enum
{
  /** The forces times this, and a constant of the metric's, are the derivative of the value. */
  EvaluatedFactor = 0,
  EvaluatedValue = 1,
  /* Of a correlation besides: see PairCentring. */
  EvaluatedFixedMean = 2,
  EvaluatedMovingMean = 3,
  EvaluatedSlope = 4,
  EvaluatedNumbers = 5
};

/** The value where no sample is valid: none is negative. */
#define GPUREG_NO_EVALUATED_VALUE -1.0f

GPUREG_NAMESPACE_END

#endif
