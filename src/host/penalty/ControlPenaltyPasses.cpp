// SPDX-License-Identifier: Apache-2.0
// The penalties of a free-form deformation in plain loops: the reference that every device is tested against.
// src/kernels/penalty/ControlPenaltyKernels.h has the counterparts for CUDA and OpenCL.
#include "host/runtime/HostQueue.h"

#include "engine/penalty/ControlPenaltyPasses.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
// The number of nodes that one task sums, independent of the threads.
constexpr i64 NodesOfPartial = 1024;
// The number of control points along z whose gradient one task computes, for all columns of a row.
constexpr int PointsOfTask = 16;

class HostControlPenaltyPasses : public ControlPenaltyPasses
{
public:
  explicit HostControlPenaltyPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  std::int64_t
  CountPartials(const ControlPenaltyArguments & a) const override
  {
    return (CountNodes(&a) + NodesOfPartial - 1) / NodesOfPartial;
  }

  void
  ComputeEnergies(const ControlPenaltyArguments & a,
                  const Memory &                  points,
                  Memory &                        partials,
                  std::int64_t                    firstPartial,
                  Memory *                        nodeDerivatives) override
  {
    const float4 * const in = m_Queue.AddressIn<const float4>(points);
    float * const        sums = m_Queue.AddressIn<float>(partials) + 2 * firstPartial;
    float4 * const       out = nodeDerivatives ? m_Queue.AddressIn<float4>(*nodeDerivatives) : nullptr;
    const i64            nodes = CountNodes(&a);
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(CountPartials(a), [&](i64 task) {
      double sum = 0;
      float  smallest = 0;
      for (i64 node = task * NodesOfPartial; node < std::min(nodes, (task + 1) * NodesOfPartial); ++node)
      {
        float4 ofNode[MostNodeDerivatives];
        float  determinant;
        sum += ComputeNodeEnergy(&a, in, node, &determinant, ofNode);
        smallest = node == task * NodesOfPartial ? determinant : SmallerOf(smallest, determinant);
        for (int s = 0; out && s < CountNodeDerivatives(a.kind); ++s)
        {
          out[s * nodes + node] = ofNode[s];
        }
      }
      sums[2 * task] = static_cast<float>(sum);
      sums[2 * task + 1] = smallest;
    });
  }

  void
  CollectGradient(const ControlPenaltyArguments & a,
                  const Memory &                  nodeDerivatives,
                  float                           factor,
                  bool                            adds,
                  Memory &                        gradient) override
  {
    const float4 * const in = m_Queue.AddressIn<const float4>(nodeDerivatives);
    float4 * const       out = m_Queue.AddressIn<float4>(gradient);
    const i64            blocks = (a.size[2] + PointsOfTask - 1) / PointsOfTask;
    m_Queue.CountLaunch();
    m_Queue.ForEachTask(blocks * a.size[1], [&](i64 task) {
      const int y = static_cast<int>(task % a.size[1]);
      const int firstZ = static_cast<int>(task / a.size[1]) * PointsOfTask;
      const int endZ = std::min(a.size[2], firstZ + PointsOfTask);
      for (int x = 0; x < a.size[0]; ++x)
      {
        CollectColumn(&a, in, x, y, firstZ, endZ, factor, adds, out);
      }
    });
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlPenaltyPasses>
MakePassesOn<DeviceKind::Host, ControlPenaltyPasses>(Queue & queue)
{
  return std::make_unique<HostControlPenaltyPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
