// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlLinePasses_h
#define gpureg_ControlLinePasses_h

#include "engine/registration/free_form/ControlSteps.h"
#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** Reads all vectors of a line of control points between two steps, on one device. Files of this name implement it: src/host for the host,
 *  src/engine for all other devices. Every member throws Error where the device reports a failure. Vectors are float4; numbers:
 *  float[kernels::LineNumbers]. */
class ControlLinePasses
{
public:
  virtual ~ControlLinePasses() = default;

  /** Computes numbers[LineProduct] and numbers[LineConjugation] of count vectors.
   *  \param isConjugate true: the direction is to be conjugate to the last one; false: it is to oppose the gradient */
  virtual void
  ComputeConjugation(
    std::int64_t count, bool isConjugate, const Memory & gradient, const Memory & lastGradient, Memory & numbers) = 0;

  /** Computes numbers[LineLongest] of count vectors. */
  virtual void
  ComputeLongest(std::int64_t count, const Memory & direction, Memory & numbers) = 0;
};

GPUREG_DECLARE_PASSES(ControlLinePasses);

} // namespace gpureg

#endif
