// SPDX-License-Identifier: Apache-2.0
// Sums of forces by which a linear transform is optimised, also behind grids, in plain loops: the reference for every device.
// src/kernels/metric/samples/PreTransformKernels.h has the counterparts for CUDA and OpenCL.
#include "host/runtime/HostQueue.h"
#include "host/core/HostSums.h"

#include "engine/metric/samples/PreTransformPasses.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
// The least number of samples of a group of sums, because adding takes less time than moving; and the most groups of whole images.
constexpr i64 LeastSamplesOfGroup = 1024;
constexpr i64 MostGroups = 1024;

class HostPreTransformPasses : public PreTransformPasses
{
public:
  explicit HostPreTransformPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  int
  CountGroups(std::int64_t count) const override
  {
    return static_cast<int>(std::clamp<i64>(count / LeastSamplesOfGroup, 1, MostGroups));
  }

  void
  SumForces(const PreTransformArguments & a,
            std::int64_t                  count,
            const Memory *                points,
            const Memory *                displacement,
            const Memory &                forces,
            Memory &                      partials) override
  {
    const i64 * const   at = points ? m_Queue.AddressIn<const i64>(*points) : nullptr;
    const float * const moved = displacement ? m_Queue.AddressIn<const float>(*displacement) : nullptr;
    const float * const from = m_Queue.AddressIn<const float>(forces);
    float * const       out = m_Queue.AddressIn<float>(partials);
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(a.groupCount, [&](i64 group) {
      double sums[ForceSumCount] = {};
      for (i64 sample = count * group / a.groupCount; sample < count * (group + 1) / a.groupCount; ++sample)
      {
        if (HasForce(from, sample))
        {
          float place[3];
          ComputePreTransformPlace(&a, at, moved, sample, place);
          const double force[3] = { from[3 * sample], from[3 * sample + 1], from[3 * sample + 2] };
          AddForceInDoubles(force, place, sums);
        }
      }
      WriteSums(sums, ForceSumCount, 2, out + group * 2 * ForceSumCount);
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<PreTransformPasses>
MakePassesOn<DeviceKind::Host, PreTransformPasses>(Queue & queue)
{
  return std::make_unique<HostPreTransformPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
