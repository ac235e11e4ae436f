// SPDX-License-Identifier: Apache-2.0
// From the forces of a metric's samples to the derivative by a field that displaces them.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_SampleForces_h
#define gpureg_kernels_SampleForces_h

GPUREG_NAMESPACE_BEGIN

/** 32-bit members only. */
typedef struct SampleForceTurn
{
  float toForce[9]; /* from a sample's force, besides EvaluatedFactor, to the derivative by its displacement, by rows */
} SampleForceTurn;

/** Writes the derivative by a voxel's displacement; the first one also copies the evaluation's value. evaluated: see Evaluated.h;
 *  ofSamples: their forces. Moves 24 bytes a voxel. */
GPUREG_FUNCTION void
TurnSampleForce(const SampleForceTurn *     a,
                GPUREG_GLOBAL const float * evaluated,
                GPUREG_GLOBAL const float * ofSamples,
                GPUREG_GLOBAL float *       forces,
                GPUREG_GLOBAL float *       value,
                i64                         item)
{
  const float factor = evaluated[EvaluatedFactor];
  for (int r = 0; r < 3; ++r)
  {
    const float along0 = a->toForce[3 * r] * ofSamples[3 * item];
    const float along1 = MultiplyAdd(a->toForce[3 * r + 1], ofSamples[3 * item + 1], along0);
    forces[3 * item + r] = factor * MultiplyAdd(a->toForce[3 * r + 2], ofSamples[3 * item + 2], along1);
  }
  if (item == 0)
  {
    value[0] = evaluated[EvaluatedValue];
  }
}

GPUREG_ITEM_KERNEL(TurnSampleForce, 1 << 12, "deriving a similarity by a deformation");

GPUREG_NAMESPACE_END

#endif
