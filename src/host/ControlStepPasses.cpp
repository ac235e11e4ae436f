// SPDX-License-Identifier: Apache-2.0
// What a registration does to control points, in plain loops.
#include "HostQueue.h"

#include "ControlStepPasses.h"

#include <algorithm>

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
    ForEachPoint(count, [&](i64 point) { out[point] = MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f); });
  }

  void
  MoveByAdam(const AdamStep & a, std::int64_t count, const AdamArrays & arrays) override
  {
    const float * const evaluated = m_Queue.AddressIn<const float>(*arrays.evaluated) + arrays.evaluatedPlace;
    m_Queue.AddressIn<float>(*arrays.values)[arrays.valuePlace] = evaluated[1];
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
  Refine(const Refinement & a, const Memory & coarse, Memory & fine) override
  {
    const auto * const in = m_Queue.AddressIn<const float4>(coarse);
    auto * const       out = m_Queue.AddressIn<float4>(fine);
    ForEachPoint(CountFinePoints(a), [&](i64 point) { out[point] = RefineControlPoint(&a, in, point); });
  }

private:
  template <typename TWork>
  void
  ForEachPoint(i64 count, const TWork & work)
  {
    ++m_Queue.statistics.launches;
    m_Queue.parallelFor((count + TaskPoints - 1) / TaskPoints, [&](i64 task) {
      for (i64 point = task * TaskPoints; point < std::min(count, (task + 1) * TaskPoints); ++point)
      {
        work(point);
      }
    });
  }

  HostQueue & m_Queue;
};
} // namespace

std::unique_ptr<ControlStepPasses>
HostQueue::CreateControlStepPasses()
{
  return std::make_unique<HostControlStepPasses>(*this);
}

} // namespace gpureg
