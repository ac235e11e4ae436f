// SPDX-License-Identifier: Apache-2.0
// Reading of a loaded image's values, in plain loops.
#include "host/runtime/HostQueue.h"

#include "engine/image/ImagePasses.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr i64 TaskSamples = i64{ 1 } << 14;

class HostImagePasses : public ImagePasses
{
public:
  explicit HostImagePasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Summarize(std::int64_t   count,
            Precision      precision,
            double         factor,
            int            strips,
            const Memory & values,
            Memory &       summaries) override
  {
    m_Queue.CountLaunch();
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      const Real * const in = m_Queue.AddressIn<const Real>(values);
      double * const     out = m_Queue.AddressIn<double>(summaries);
      // Strips lie one after another and are not interleaved, because one thread reads each strip.
      m_Queue.ForEachTask(strips, [&](i64 strip) {
        SummarizeStrip(
          in, count * strip / strips, i64{ 1 }, count * (strip + 1) / strips, factor, out + SummaryNumbers * strip);
      });
    });
  }

  void
  Pick(std::int64_t count, Precision precision, std::int64_t parts, const Memory & values, Memory & picked) override
  {
    m_Queue.CountLaunch();
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      const Real * const in = m_Queue.AddressIn<const Real>(values);
      Real * const       out = m_Queue.AddressIn<Real>(picked);
      for (i64 number = 0; number < parts; ++number)
      {
        out[number] = PickValue(in, count, parts, number);
      }
    });
  }

  void
  Clamp(const ClampArguments & a,
        Precision              precision,
        int                    strips,
        const Memory &         values,
        Memory &               clamped,
        Memory &               numbers) override
  {
    m_Queue.CountLaunch();
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      const Real * const in = m_Queue.AddressIn<const Real>(values);
      Real * const       out = m_Queue.AddressIn<Real>(clamped);
      i64 * const        counts = m_Queue.AddressIn<i64>(numbers);
      m_Queue.ForEachTask(strips, [&](i64 strip) {
        ClampStrip(&a,
                   in,
                   a.count * strip / strips,
                   i64{ 1 },
                   a.count * (strip + 1) / strips,
                   out,
                   counts + ClampNumbers * strip);
      });
    });
  }

  void
  Hash(std::int64_t count, const Memory & bytes, Memory & states) override
  {
    m_Queue.CountLaunch();
    const u8 * const in = m_Queue.AddressIn<const u8>(bytes);
    u64 * const      out = m_Queue.AddressIn<u64>(states);
    m_Queue.ForEachTask(CountHashLanes(count), [&](i64 number) { out[number] = HashLaneOfTask(in, count, number); });
  }

  void
  Keep(const ImageSampling & a,
       std::int64_t          count,
       Precision             precision,
       const Memory &        values,
       const Memory &        edges,
       const Memory *        mask,
       Memory &              kept) override
  {
    m_Queue.CountLaunch();
    WithReal(precision, [&](auto zero) {
      using Real = decltype(zero);
      const Real * const in = m_Queue.AddressIn<const Real>(values);
      const Real * const ofBins = m_Queue.AddressIn<const Real>(edges);
      const u8 * const   inMask = mask != nullptr ? m_Queue.AddressIn<const u8>(*mask) : nullptr;
      void * const       out = m_Queue.AddressIn<void>(kept);
      m_Queue.ForEachTask((count + TaskSamples - 1) / TaskSamples, [&](i64 task) {
        const i64 end = std::min(count, (task + 1) * TaskSamples);
        for (i64 sample = task * TaskSamples; sample < end; ++sample)
        {
          KeepImageValue(&a, in, ofBins, inMask, sample, out);
        }
      });
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ImagePasses>
MakePassesOn<DeviceKind::Host, ImagePasses>(Queue & queue)
{
  return std::make_unique<HostImagePasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
