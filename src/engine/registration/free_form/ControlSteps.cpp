// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/ControlSteps.h"

#include "engine/runtime/ForEachItem.h"

namespace gpureg
{

using kernels::float4;

void
MoveByAdam(Queue & queue, const kernels::ControlStep & a, std::int64_t count, const StepArrays & arrays)
{
  ForEachItem<kernels::MoveByAdamKernel>(queue,
                                         count,
                                         a,
                                         Input<float>(arrays.evaluated, arrays.evaluatedPlace),
                                         Output<float>(arrays.values, arrays.valuePlace),
                                         Input<float4>(arrays.controlForces),
                                         Input<float4>(arrays.penalty),
                                         Output<float4>(arrays.firstMeans),
                                         Output<float4>(arrays.secondMeans),
                                         Output<float4>(arrays.points));
}

void
InformEvaluated(
  Queue & queue, const kernels::PairInformation & a, const Memory & evaluated, std::int64_t place, Memory & informed)
{
  ForEachItem<kernels::InformEvaluatedKernel>(queue, 1, a, Input<float>(&evaluated, place), Output<float>(informed));
}

void
CopyValue(Queue & queue, const StepArrays & arrays)
{
  ForEachItem<kernels::CopyValueKernel>(queue,
                                        1,
                                        Input<float>(arrays.evaluated, arrays.evaluatedPlace),
                                        Output<float>(arrays.values, arrays.valuePlace));
}

void
EnqueueCostGradient(Queue & queue, float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient)
{
  ForEachItem<kernels::WriteCostGradientKernel>(queue,
                                                count,
                                                similarity,
                                                Input<float>(arrays.evaluated, arrays.evaluatedPlace),
                                                Input<float4>(arrays.controlForces),
                                                arrays.penalty != nullptr,
                                                Input<float4>(arrays.penalty),
                                                Output<float4>(gradient));
}

void
RefineControlPoints(Queue & queue, const kernels::Refinement & a, const Memory & coarse, Memory & fine)
{
  ForEachItem<kernels::RefineControlPointKernel>(
    queue, CountFinePoints(a), a, Input<float4>(coarse), Output<float4>(fine));
}

} // namespace gpureg
