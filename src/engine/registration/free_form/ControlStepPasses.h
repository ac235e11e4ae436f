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

/** What a step reads and writes: float4, one a control point; … */
struct StepArrays
{
  /** … but float: what an evaluation has left there, from evaluatedPlace on; … */
  const Memory * evaluated = nullptr;
  std::int64_t   evaluatedPlace = 0;
  /** … and float: values[valuePlace] becomes its value. */
  Memory *       values = nullptr;
  std::int64_t   valuePlace = 0;
  const Memory * gathered = nullptr;
  /** Null where there is no penalty. */
  const Memory * penalty = nullptr;
  Memory *       firstMeans = nullptr;
  Memory *       secondMeans = nullptr;
  Memory *       points = nullptr;
};

/** What a line of a conjugate gradient is found of and kept in: float4, one a control point, but numbers. */
struct LineArrays
{
  /** Of the cost at the points. */
  const Memory * gradient = nullptr;
  /** At the beginning of the last line; it becomes this one. */
  Memory * lastGradient = nullptr;
  /** The last line's; it becomes this one's. */
  Memory * direction = nullptr;
  /** float [kernels::LineNumbers] */
  Memory * numbers = nullptr;
};

/** What a registration does to control points on one device. src/host, cuda and opencl each have it in a file of this name. Every
 *  member throws Error where the device reports a failure. */
class ControlStepPasses
{
public:
  virtual ~ControlStepPasses() = default;

  /** Sets the first count vectors to 0. */
  virtual void
  Clear(std::int64_t count, Memory & vectors) = 0;

  virtual void
  MoveByAdam(const kernels::AdamStep & a, std::int64_t count, const StepArrays & arrays) = 0;

  /** values[valuePlace] becomes the value that an evaluation has left: see StepArrays. */
  virtual void
  KeepValue(const StepArrays & arrays) = 0;

  /** gradient, float4, becomes that of the cost: see kernels::FindCostGradient and StepArrays. It may be arrays.gathered. */
  virtual void
  FindGradient(float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient) = 0;

  /** The next line, with its numbers. \param isConjugate to the last one; else against the gradient. */
  virtual void
  TurnLine(std::int64_t count, bool isConjugate, const LineArrays & arrays) = 0;

  /** points = begin + direction·length/its longest vector. */
  virtual void
  PlaceOnLine(std::int64_t count, float length, const LineArrays & arrays, const Memory & begin, Memory & points) = 0;

  /** coarse, fine: float4, one a control point. */
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
