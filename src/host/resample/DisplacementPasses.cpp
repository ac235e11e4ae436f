// SPDX-License-Identifier: Apache-2.0
// Conversion of places to displacements, in plain loops.
#include "host/runtime/HostQueue.h"

#include "engine/resample/DisplacementPasses.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
class HostDisplacementPasses : public DisplacementPasses
{
public:
  explicit HostDisplacementPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Displace(const DisplacementArguments & a, std::int64_t count, Memory & places) override
  {
    constexpr i64  TaskVoxels = i64{ 1 } << 14;
    double * const out = m_Queue.AddressIn<double>(places);
    m_Queue.CountLaunch();
    m_Queue.ForEachTask((count + TaskVoxels - 1) / TaskVoxels, [&](i64 task) {
      const i64 end = std::min(count, (task + 1) * TaskVoxels);
      for (i64 voxel = task * TaskVoxels; voxel < end; ++voxel)
      {
        FindDisplacement(&a, voxel, out);
      }
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<DisplacementPasses>
MakePassesOn<DeviceKind::Host, DisplacementPasses>(Queue & queue)
{
  return std::make_unique<HostDisplacementPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
