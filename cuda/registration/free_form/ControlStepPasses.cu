// SPDX-License-Identifier: Apache-2.0
// Moves the control points of a registration in CUDA: entry points and launches. The formulas are in
// src/kernels/registration/free_form/ControlSteps.h; the plain version is src/host/registration/free_form/ControlStepPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/registration/free_form/ControlStepPasses.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/registration/free_form/ControlStepKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int Lanes = 128;
// The lanes of the one group that reads all points.
constexpr int GroupLanes = 1024;

/** The work-item's control point; as many as there are, or more. */
__device__ i64
FindPoint()
{
  return i64{ blockIdx.x } * Lanes + threadIdx.x;
}

__global__ void
__launch_bounds__(Lanes) ClearKernel(i64 count, float4 * vectors)
{
  if (FindPoint() < count)
  {
    vectors[FindPoint()] = ZeroFloat4();
  }
}

__global__ void
__launch_bounds__(Lanes) MoveByAdamKernel(const __grid_constant__ AdamStep a,
                                          i64                              count,
                                          const float *                    evaluated,
                                          float *                          value,
                                          const float4 *                   gathered,
                                          const float4 *                   penalty,
                                          float4 *                         firstMeans,
                                          float4 *                         secondMeans,
                                          float4 *                         points)
{
  if (FindPoint() == 0)
  {
    *value = evaluated[EvaluatedValue];
  }
  if (FindPoint() < count)
  {
    MoveByAdam(&a, FindPoint(), evaluated, gathered, penalty, firstMeans, secondMeans, points);
  }
}

__global__ void
KeepValueKernel(const float * evaluated, float * value)
{
  *value = evaluated[EvaluatedValue];
}

__global__ void
__launch_bounds__(Lanes) FindGradientKernel(float          similarity,
                                            i64            count,
                                            const float *  evaluated,
                                            const float4 * gathered,
                                            const float4 * penalty,
                                            float4 *       gradient)
{
  if (FindPoint() < count)
  {
    gradient[FindPoint()] = FindCostGradient(similarity, FindPoint(), evaluated, gathered, penalty != nullptr, penalty);
  }
}

__global__ void
__launch_bounds__(GroupLanes)
  ConjugateKernel(i64 count, int isConjugate, const float4 * gradient, const float4 * lastGradient, float * numbers)
{
  __shared__ float scratch[GroupLanes];
  ConjugateGroup(count, isConjugate, gradient, lastGradient, scratch, numbers);
}

__global__ void
__launch_bounds__(Lanes) TurnDirectionKernel(
  i64 count, const float * numbers, const float4 * gradient, float4 * lastGradient, float4 * direction)
{
  if (FindPoint() < count)
  {
    TurnDirection(FindPoint(), numbers, gradient, lastGradient, direction);
  }
}

__global__ void
__launch_bounds__(GroupLanes) LongestKernel(i64 count, const float4 * direction, float * numbers)
{
  __shared__ float scratch[GroupLanes];
  LongestGroup(count, direction, scratch, numbers);
}

__global__ void
__launch_bounds__(Lanes) PlaceOnLineKernel(
  i64 count, float length, const float * numbers, const float4 * begin, const float4 * direction, float4 * points)
{
  if (FindPoint() < count)
  {
    points[FindPoint()] = PlaceOnLine(length, FindPoint(), numbers, begin, direction);
  }
}

__global__ void
__launch_bounds__(Lanes)
  RefineKernel(const __grid_constant__ Refinement a, i64 count, const float4 * coarse, float4 * fine)
{
  if (FindPoint() < count)
  {
    fine[FindPoint()] = RefineControlPoint(&a, coarse, FindPoint());
  }
}

class CudaControlStepPasses : public ControlStepPasses
{
public:
  explicit CudaControlStepPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Clear(std::int64_t count, Memory & vectors) override
  {
    m_Queue.LaunchFor("clearing vectors", ClearKernel, count, Lanes, i64{ count }, AddressIn<float4>(vectors));
  }

  void
  MoveByAdam(const AdamStep & a, std::int64_t count, const StepArrays & arrays) override
  {
    m_Queue.LaunchFor("moving control points",
                      MoveByAdamKernel,
                      count,
                      Lanes,
                      a,
                      i64{ count },
                      GetEvaluated(arrays),
                      GetValue(arrays),
                      AddressIn<const float4>(*arrays.gathered),
                      arrays.penalty ? AddressIn<const float4>(*arrays.penalty) : nullptr,
                      AddressIn<float4>(*arrays.firstMeans),
                      AddressIn<float4>(*arrays.secondMeans),
                      AddressIn<float4>(*arrays.points));
  }

  void
  KeepValue(const StepArrays & arrays) override
  {
    m_Queue.LaunchFor("keeping a value", KeepValueKernel, i64{ 1 }, 1, GetEvaluated(arrays), GetValue(arrays));
  }

  void
  FindGradient(float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient) override
  {
    m_Queue.LaunchFor("finding a gradient",
                      FindGradientKernel,
                      count,
                      Lanes,
                      similarity,
                      i64{ count },
                      GetEvaluated(arrays),
                      AddressIn<const float4>(*arrays.gathered),
                      arrays.penalty ? AddressIn<const float4>(*arrays.penalty) : nullptr,
                      AddressIn<float4>(gradient));
  }

  void
  TurnLine(std::int64_t count, bool isConjugate, const LineArrays & arrays) override
  {
    const auto * const gradient = AddressIn<const float4>(*arrays.gradient);
    auto * const       last = AddressIn<float4>(*arrays.lastGradient);
    auto * const       direction = AddressIn<float4>(*arrays.direction);
    auto * const       numbers = AddressIn<float>(*arrays.numbers);
    m_Queue.LaunchFor("conjugating a direction",
                      ConjugateKernel,
                      i64{ GroupLanes },
                      GroupLanes,
                      i64{ count },
                      static_cast<int>(isConjugate),
                      gradient,
                      static_cast<const float4 *>(last),
                      numbers);
    m_Queue.LaunchFor("turning a direction",
                      TurnDirectionKernel,
                      count,
                      Lanes,
                      i64{ count },
                      static_cast<const float *>(numbers),
                      gradient,
                      last,
                      direction);
    m_Queue.LaunchFor("measuring a direction",
                      LongestKernel,
                      i64{ GroupLanes },
                      GroupLanes,
                      i64{ count },
                      static_cast<const float4 *>(direction),
                      numbers);
  }

  void
  PlaceOnLine(
    std::int64_t count, float length, const LineArrays & arrays, const Memory & begin, Memory & points) override
  {
    m_Queue.LaunchFor("placing control points on a line",
                      PlaceOnLineKernel,
                      count,
                      Lanes,
                      i64{ count },
                      length,
                      AddressIn<const float>(*arrays.numbers),
                      AddressIn<const float4>(begin),
                      AddressIn<const float4>(*arrays.direction),
                      AddressIn<float4>(points));
  }

  void
  Refine(const Refinement & a, const Memory & coarse, Memory & fine) override
  {
    const i64 count = CountFinePoints(a);
    m_Queue.LaunchFor("refining control points",
                      RefineKernel,
                      count,
                      Lanes,
                      a,
                      count,
                      AddressIn<const float4>(coarse),
                      AddressIn<float4>(fine));
  }

private:
  static const float *
  GetEvaluated(const StepArrays & arrays)
  {
    return AddressIn<const float>(*arrays.evaluated) + arrays.evaluatedPlace;
  }

  static float *
  GetValue(const StepArrays & arrays)
  {
    return AddressIn<float>(*arrays.values) + arrays.valuePlace;
  }

  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlStepPasses>
MakePassesOn<DeviceKind::Cuda, ControlStepPasses>(Queue & queue)
{
  return std::make_unique<CudaControlStepPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
