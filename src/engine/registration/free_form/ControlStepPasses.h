// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlStepPasses_h
#define gpureg_ControlStepPasses_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Evaluated.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/registration/free_form/ControlSteps.h"

#include "engine/runtime/MakePasses.h"

#include <cstdint>

namespace gpureg
{

/** The arrays that a step reads and writes. */
struct StepArrays
{
  /** float: the numbers of an evaluation, from evaluatedPlace on. */
  const Memory * evaluated = nullptr;
  std::int64_t   evaluatedPlace = 0;
  /** float: the step writes the evaluation's value to values[valuePlace]. All arrays below are float4, one per control point. */
  Memory *       values = nullptr;
  std::int64_t   valuePlace = 0;
  const Memory * gathered = nullptr;
  /** Null if there is no penalty. */
  const Memory * penalty = nullptr;
  Memory *       firstMeans = nullptr;
  Memory *       secondMeans = nullptr;
  Memory *       points = nullptr;
};

/** The arrays of a line of a conjugate gradient: float4, one per control point, except numbers. */
struct LineArrays
{
  /** The gradient of the cost at the points. */
  const Memory * gradient = nullptr;
  /** The gradient at the beginning of the last line; it is replaced by this line's gradient. */
  Memory * lastGradient = nullptr;
  /** The direction of the last line; it is replaced by this line's direction. */
  Memory * direction = nullptr;
  /** float[kernels::LineNumbers]. */
  Memory * numbers = nullptr;
};

/** The steps of a registration on control points, on one device. src/host, cuda and opencl each implement them in a file of this name.
 *  Every member throws Error where the device reports a failure. */
class ControlStepPasses
{
public:
  virtual ~ControlStepPasses() = default;

  /** Sets the first count vectors to 0. */
  virtual void
  Clear(std::int64_t count, Memory & vectors) = 0;

  virtual void
  MoveByAdam(const kernels::AdamStep & a, std::int64_t count, const StepArrays & arrays) = 0;

  /** Copies the value of an evaluation to values[valuePlace]; see StepArrays. */
  virtual void
  KeepValue(const StepArrays & arrays) = 0;

  /** Computes the cost's gradient, float4; see kernels::FindCostGradient and StepArrays. gradient may be arrays.gathered. */
  virtual void
  FindGradient(float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient) = 0;

  /** Computes the next line and its numbers. \param isConjugate true: the direction is conjugate to the last one; false: it opposes the
   *  gradient */
  virtual void
  TurnLine(std::int64_t count, bool isConjugate, const LineArrays & arrays) = 0;

  /** Computes points = begin + direction·length/(length of its longest vector). */
  virtual void
  PlaceOnLine(std::int64_t count, float length, const LineArrays & arrays, const Memory & begin, Memory & points) = 0;

  /** Refines a control grid. coarse, fine: float4, one per control point. */
  virtual void
  Refine(const kernels::Refinement & a, const Memory & coarse, Memory & fine) = 0;
};

inline std::int64_t
CountFinePoints(const kernels::Refinement & a)
{
  return std::int64_t{ a.fine[0] } * a.fine[1] * a.fine[2];
}

GPUREG_DECLARE_PASSES(ControlStepPasses);

} // namespace gpureg

#endif
