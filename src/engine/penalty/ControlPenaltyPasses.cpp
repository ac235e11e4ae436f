// SPDX-License-Identifier: Apache-2.0
#include "engine/penalty/ControlPenaltyPasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/penalty/ControlPenaltyKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
class GroupControlPenaltyPasses : public ControlPenaltyPasses
{
public:
  explicit GroupControlPenaltyPasses(Queue & queue)
    : m_Queue(queue)
  {}

  std::int64_t
  CountPartials(const ControlPenaltyArguments & a) const override
  {
    return CountGroupsFor<ComputeEnergiesGroupKernel>(m_Queue, CountNodes(&a)).x;
  }

  void
  ComputeEnergies(const ControlPenaltyArguments & a,
                  const Memory &                  points,
                  Memory &                        partials,
                  std::int64_t                    firstPartial,
                  Memory *                        nodeDerivatives) override
  {
    LaunchGroups<ComputeEnergiesGroupKernel>(m_Queue,
                                             CountGroupsFor<ComputeEnergiesGroupKernel>(m_Queue, CountNodes(&a)),
                                             a,
                                             Input<float4>(points),
                                             Output<float>(partials, 2 * firstPartial),
                                             nodeDerivatives != nullptr,
                                             Output<float4>(nodeDerivatives));
  }

  void
  CollectGradient(const ControlPenaltyArguments & a,
                  const Memory &                  nodeDerivatives,
                  float                           factor,
                  bool                            adds,
                  Memory &                        gradient) override
  {
    LaunchGroups<CollectGradientGroupKernel>(m_Queue,
                                             CountGroupsFor<CollectGradientGroupKernel>(m_Queue,
                                                                                        CountControlPoints(&a)),
                                             a,
                                             Input<float4>(nodeDerivatives),
                                             factor,
                                             adds,
                                             Output<float4>(gradient));
  }

private:
  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(ControlPenaltyPasses, GroupControlPenaltyPasses)

} // namespace gpureg
