// SPDX-License-Identifier: Apache-2.0
// The numbers of a line of control points, in plain loops, which are counted with the launch that turns the line.
#include "host/runtime/HostQueue.h"

#include "engine/registration/free_form/ControlLinePasses.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

using namespace kernels;

namespace
{
class HostControlLinePasses : public ControlLinePasses
{
public:
  explicit HostControlLinePasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  ComputeConjugation(std::int64_t   count,
                     bool           isConjugate,
                     const Memory & gradient,
                     const Memory & lastGradient,
                     Memory &       numbers) override
  {
    const auto * const now = m_Queue.AddressIn<const float4>(gradient);
    const auto * const last = m_Queue.AddressIn<const float4>(lastGradient);
    auto * const       out = m_Queue.AddressIn<float>(numbers);
    double             squares = 0, change = 0, product = 0;
    for (i64 point = 0; point < count; ++point)
    {
      const float ofBoth = Dot3(last[point], now[point]);
      squares += Dot3(last[point], last[point]);
      change += Dot3(now[point], now[point]) - ofBoth;
      product += ofBoth;
    }
    out[LineProduct] = static_cast<float>(product);
    out[LineConjugation] = isConjugate && squares > 0 && change > 0 ? static_cast<float>(change / squares) : 0.0f;
  }

  void
  ComputeLongest(std::int64_t count, const Memory & direction, Memory & numbers) override
  {
    const auto * const vectors = m_Queue.AddressIn<const float4>(direction);
    float              largest = 0;
    for (i64 point = 0; point < count; ++point)
    {
      largest = std::max(largest, Dot3(vectors[point], vectors[point]));
    }
    m_Queue.AddressIn<float>(numbers)[LineLongest] = std::sqrt(largest);
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlLinePasses>
MakePassesOn<DeviceKind::Host, ControlLinePasses>(Queue & queue)
{
  return std::make_unique<HostControlLinePasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
