// SPDX-License-Identifier: Apache-2.0
// The arrays that metrics read from a moving image, in plain loops.
#include "host/runtime/HostQueue.h"

#include "engine/metric/samples/MovingImagePasses.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr i64 TaskVoxels = i64{ 1 } << 16;

class HostMovingImagePasses : public MovingImagePasses
{
public:
  explicit HostMovingImagePasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  MakeQuads(const VolumeShape & shape, const Memory & values, Memory & quads) override
  {
    const float * const in = m_Queue.AddressIn<const float>(values);
    float4 * const      out = m_Queue.AddressIn<float4>(quads);
    const i64           count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    ForEachVoxel(count, [&](i64 i) { out[i] = FindQuad(in, &shape, i); });
  }

  void
  MakeBinCells(const VolumeShape & shape, const Memory & bins, Memory & cells) override
  {
    const u8 * const in = m_Queue.AddressIn<const u8>(bins);
    u64 * const      out = m_Queue.AddressIn<u64>(cells);
    ForEachVoxel(VoxelOffset(&shape, 0, 0, shape.size[2]), [&](i64 i) { out[i] = FindBinCell(in, &shape, i); });
  }

  void
  ReplaceValues(std::int64_t count, const Memory * values, float gradientFactor, Memory & packed) override
  {
    const float * const in = values ? m_Queue.AddressIn<const float>(*values) : nullptr;
    float4 * const      out = m_Queue.AddressIn<float4>(packed);
    ForEachVoxel(count, [&](i64 i) { out[i] = ReplaceValue(out[i], gradientFactor, in ? in[i] : 0.0f); });
  }

  void
  AddDerivatives(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     packed) override
  {
    const float * const in = m_Queue.AddressIn<const float>(derivative);
    float4 * const      out = m_Queue.AddressIn<float4>(packed);
    ForEachVoxel(count, [&](i64 i) { out[i] = AddDerivative(out[i], in[i], column.data()); });
  }

  void
  ScaleGradients(std::int64_t count, float factor, Memory & gradients) override
  {
    float * const out = m_Queue.AddressIn<float>(gradients);
    ForEachVoxel(count, [&](i64 i) { ScaleGradient(out + 3 * i, factor); });
  }

  void
  AddToGradients(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     gradients) override
  {
    const float * const in = m_Queue.AddressIn<const float>(derivative);
    float * const       out = m_Queue.AddressIn<float>(gradients);
    ForEachVoxel(count, [&](i64 i) { AddToGradient(out + 3 * i, in[i], column.data()); });
  }

private:
  template <typename TWork>
  void
  ForEachVoxel(i64 count, const TWork & work)
  {
    m_Queue.CountLaunch();
    m_Queue.ForEachTask((count + TaskVoxels - 1) / TaskVoxels, [&](i64 task) {
      const i64 end = std::min(count, (task + 1) * TaskVoxels);
      for (i64 i = task * TaskVoxels; i < end; ++i)
      {
        work(i);
      }
    });
  }

  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<MovingImagePasses>
MakePassesOn<DeviceKind::Host, MovingImagePasses>(Queue & queue)
{
  return std::make_unique<HostMovingImagePasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
