// SPDX-License-Identifier: Apache-2.0
// The steps of a registration on control points, and on a line along which they move.
#ifndef gpureg_ControlSteps_h
#define gpureg_ControlSteps_h

#include "kernels/core/Prelude.h"
#include "kernels/core/Adam.h"
#include "kernels/core/Evaluated.h"
#include "kernels/transform/ControlVector.h"
#include "kernels/registration/free_form/ControlSteps.h"

#include "engine/runtime/Queue.h"

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
  const Memory * controlForces = nullptr;
  /** Null if there is no penalty. */
  const Memory * penalty = nullptr;
  Memory *       firstMeans = nullptr;
  Memory *       secondMeans = nullptr;
  Memory *       points = nullptr;
};

/** Enqueues a step of Adam for count control points; see kernels::MoveByAdam. */
void
MoveByAdam(Queue & queue, const kernels::ControlStep & a, std::int64_t count, const StepArrays & arrays);

/** Enqueues the numbers of a pair's share in a cost; see kernels::InformEvaluated. evaluated: float, from place on; informed: float, as
 *  many as kernels::EvaluatedNumbers. */
void
InformEvaluated(
  Queue & queue, const kernels::PairInformation & a, const Memory & evaluated, std::int64_t place, Memory & informed);

/** Enqueues the copy of an evaluation's value to values[valuePlace]. */
void
CopyValue(Queue & queue, const StepArrays & arrays);

/** Enqueues the computation of the cost's gradient, float4; see kernels::ComputeCostGradient. gradient may be arrays.controlForces. */
void
EnqueueCostGradient(Queue & queue, float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient);

/** Enqueues the refinement of a control grid. coarse, fine: float4, one per control point. */
void
RefineControlPoints(Queue & queue, const kernels::Refinement & a, const Memory & coarse, Memory & fine);

inline std::int64_t
CountFinePoints(const kernels::Refinement & a)
{
  return std::int64_t{ a.fine[0] } * a.fine[1] * a.fine[2];
}

} // namespace gpureg

#endif
