// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/ControlLinePasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/registration/free_form/ControlLineKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
/** Launches one group, which reads all vectors. */
class GroupControlLinePasses : public ControlLinePasses
{
public:
  explicit GroupControlLinePasses(Queue & queue)
    : m_Queue(queue)
  {}

  void
  ComputeConjugation(std::int64_t   count,
                     bool           isConjugate,
                     const Memory & gradient,
                     const Memory & lastGradient,
                     Memory &       numbers) override
  {
    LaunchGroups<ConjugateGroupKernel>(m_Queue,
                                       GroupNumbers{ 1 },
                                       count,
                                       isConjugate,
                                       Input<float4>(gradient),
                                       Input<float4>(lastGradient),
                                       Output<float>(numbers));
  }

  void
  ComputeLongest(std::int64_t count, const Memory & direction, Memory & numbers) override
  {
    LaunchGroups<LongestGroupKernel>(
      m_Queue, GroupNumbers{ 1 }, count, Input<float4>(direction), Output<float>(numbers));
  }

private:
  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(ControlLinePasses, GroupControlLinePasses)

} // namespace gpureg
