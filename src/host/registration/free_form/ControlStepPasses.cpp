// SPDX-License-Identifier: Apache-2.0
// The steps of a registration on control points, in plain loops.
#include "host/runtime/HostQueue.h"

#include "engine/registration/free_form/ControlStepPasses.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr i64 TaskPoints = i64{ 1 } << 12;

class HostControlStepPasses : public ControlStepPasses
{
public:
  explicit HostControlStepPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Clear(std::int64_t count, Memory & vectors) override
  {
    auto * const out = m_Queue.AddressIn<float4>(vectors);
    ForEachPoint(count, [&](i64 point) { out[point] = ZeroFloat4(); });
  }

  void
  MoveByAdam(const AdamStep & a, std::int64_t count, const StepArrays & arrays) override
  {
    const float * const evaluated = FindEvaluated(arrays);
    m_Queue.AddressIn<float>(*arrays.values)[arrays.valuePlace] = evaluated[EvaluatedValue];
    const auto * const gathered = m_Queue.AddressIn<const float4>(*arrays.gathered);
    const auto * const penalty = arrays.penalty ? m_Queue.AddressIn<const float4>(*arrays.penalty) : nullptr;
    auto * const       first = m_Queue.AddressIn<float4>(*arrays.firstMeans);
    auto * const       second = m_Queue.AddressIn<float4>(*arrays.secondMeans);
    auto * const       points = m_Queue.AddressIn<float4>(*arrays.points);
    ForEachPoint(count, [&](i64 point) {
      kernels::MoveByAdam(&a, point, evaluated, gathered, penalty, first, second, points);
    });
  }

  void
  KeepValue(const StepArrays & arrays) override
  {
    m_Queue.CountLaunch();
    m_Queue.AddressIn<float>(*arrays.values)[arrays.valuePlace] = FindEvaluated(arrays)[EvaluatedValue];
  }

  void
  FindGradient(float similarity, std::int64_t count, const StepArrays & arrays, Memory & gradient) override
  {
    const float * const evaluated = FindEvaluated(arrays);
    const auto * const  gathered = m_Queue.AddressIn<const float4>(*arrays.gathered);
    const bool          hasPenalty = arrays.penalty != nullptr;
    const auto * const  penalty = hasPenalty ? m_Queue.AddressIn<const float4>(*arrays.penalty) : nullptr;
    auto * const        out = m_Queue.AddressIn<float4>(gradient);
    ForEachPoint(count, [&](i64 point) {
      out[point] = FindCostGradient(similarity, point, evaluated, gathered, hasPenalty, penalty);
    });
  }

  void
  TurnLine(std::int64_t count, bool isConjugate, const LineArrays & arrays) override
  {
    const auto * const gradient = m_Queue.AddressIn<const float4>(*arrays.gradient);
    auto * const       last = m_Queue.AddressIn<float4>(*arrays.lastGradient);
    auto * const       direction = m_Queue.AddressIn<float4>(*arrays.direction);
    auto * const       numbers = m_Queue.AddressIn<float>(*arrays.numbers);
    double             squares = 0, change = 0, product = 0;
    for (i64 point = 0; point < count; ++point)
    {
      const float ofBoth = Dot3(last[point], gradient[point]);
      squares += Dot3(last[point], last[point]);
      change += Dot3(gradient[point], gradient[point]) - ofBoth;
      product += ofBoth;
    }
    numbers[LineProduct] = static_cast<float>(product);
    numbers[LineConjugation] = isConjugate && squares > 0 && change > 0 ? static_cast<float>(change / squares) : 0.0f;
    ForEachPoint(count, [&](i64 point) { TurnDirection(point, numbers, gradient, last, direction); });
    float largest = 0;
    for (i64 point = 0; point < count; ++point)
    {
      largest = std::max(largest, Dot3(direction[point], direction[point]));
    }
    numbers[LineLongest] = std::sqrt(largest);
  }

  void
  PlaceOnLine(
    std::int64_t count, float length, const LineArrays & arrays, const Memory & begin, Memory & points) override
  {
    const auto * const numbers = m_Queue.AddressIn<const float>(*arrays.numbers);
    const auto * const direction = m_Queue.AddressIn<const float4>(*arrays.direction);
    const auto * const from = m_Queue.AddressIn<const float4>(begin);
    auto * const       out = m_Queue.AddressIn<float4>(points);
    ForEachPoint(count, [&](i64 point) { out[point] = kernels::PlaceOnLine(length, point, numbers, from, direction); });
  }

  void
  Refine(const Refinement & a, const Memory & coarse, Memory & fine) override
  {
    const auto * const in = m_Queue.AddressIn<const float4>(coarse);
    auto * const       out = m_Queue.AddressIn<float4>(fine);
    ForEachPoint(CountFinePoints(a), [&](i64 point) { out[point] = RefineControlPoint(&a, in, point); });
  }

private:
  const float *
  FindEvaluated(const StepArrays & arrays) const
  {
    return m_Queue.AddressIn<const float>(*arrays.evaluated) + arrays.evaluatedPlace;
  }

  template <typename TWork>
  void
  ForEachPoint(i64 count, const TWork & work)
  {
    m_Queue.CountLaunch();
    m_Queue.ForEachTask((count + TaskPoints - 1) / TaskPoints, [&](i64 task) {
      for (i64 point = task * TaskPoints; point < std::min(count, (task + 1) * TaskPoints); ++point)
      {
        work(point);
      }
    });
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlStepPasses>
MakePassesOn<DeviceKind::Host, ControlStepPasses>(Queue & queue)
{
  return std::make_unique<HostControlStepPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
