// SPDX-License-Identifier: Apache-2.0
// Conversion between numbers of any type and values of an image, in plain loops.
#include "host/runtime/HostQueue.h"

#include "engine/image/NumberPasses.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
class HostNumberPasses : public NumberPasses
{
public:
  explicit HostNumberPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Read(std::int64_t count, NumberType type, bool isMask, Precision precision, const Memory & numbers, Memory & values)
    override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      const void * const in = m_Queue.AddressIn<const void>(numbers);
      Real * const       out = m_Queue.AddressIn<Real>(values);
      this->ForEach(count, [=](i64 n) { NumberToReal(in, FormOf(type), isMask, n, out); });
    });
  }

  void
  Write(std::int64_t count, NumberType type, Precision precision, const Memory & values, Memory & numbers) override
  {
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      const Real * const in = m_Queue.AddressIn<const Real>(values);
      void * const       out = m_Queue.AddressIn<void>(numbers);
      this->ForEach(count, [=](i64 n) { WriteNumber(out, FormOf(type), n, in[n]); });
    });
  }

private:
  template <typename TBody>
  void
  ForEach(std::int64_t count, const TBody & body)
  {
    constexpr i64 TaskNumbers = i64{ 1 } << 14;
    m_Queue.CountLaunch();
    m_Queue.ForEachTask((count + TaskNumbers - 1) / TaskNumbers, [&](i64 task) {
      const i64 end = std::min(count, (task + 1) * TaskNumbers);
      for (i64 n = task * TaskNumbers; n < end; ++n)
      {
        body(n);
      }
    });
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<NumberPasses>
MakePassesOn<DeviceKind::Host, NumberPasses>(Queue & queue)
{
  return std::make_unique<HostNumberPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
