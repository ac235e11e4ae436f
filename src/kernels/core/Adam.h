// SPDX-License-Identifier: Apache-2.0
// A step of Adam (Kingma & Ba 2015, algorithm 1).
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Adam_h
#define gpureg_kernels_Adam_h

GPUREG_NAMESPACE_BEGIN

/** Describes step t, from 1 on. 32-bit members only. */
typedef struct AdamStep
{
  float length;           /* length of a step if the gradient does not change */
  float firstDecay;       /* of the running mean of the gradient */
  float secondDecay;      /* of the running mean of the gradient's square */
  float firstCorrection;  /* 1/(1 - firstDecay^t) */
  float secondCorrection; /* 1/(1 - secondDecay^t) */
  float epsilon;          /* added to the denominator, so that tiny gradients cause no steps */
} AdamStep;

/** Returns the step along one axis, and updates the means of its gradient. */
GPUREG_FUNCTION float
ComputeAdamStep(const AdamStep * a, float gradient, float * firstMean, float * secondMean)
{
  *firstMean = MultiplyAdd(a->firstDecay, *firstMean, (1.0f - a->firstDecay) * gradient);
  *secondMean = MultiplyAdd(a->secondDecay, *secondMean, (1.0f - a->secondDecay) * gradient * gradient);
  return -a->length * a->firstCorrection * *firstMean / (SqrtOf(a->secondCorrection * *secondMean) + a->epsilon);
}

GPUREG_NAMESPACE_END

#endif
