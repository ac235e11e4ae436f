// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/PreTransformPasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/samples/PreTransformKernels.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
// The groups of a GPU that has a number of lanes for each kernel: eight for each of an H200's multiprocessors.
constexpr int TargetGroups = 1056;

class GroupPreTransformPasses : public PreTransformPasses
{
public:
  explicit GroupPreTransformPasses(Queue & queue)
    : m_Queue(queue)
  {}

  int
  CountGroups(std::int64_t count) const override
  {
    const std::int64_t most = m_Queue.GetGroupTraits().GetTargetGroups(TargetGroups);
    return static_cast<int>(
      std::clamp<std::int64_t>(count / GetGroupLanes<SumPreTransformForcesGroupKernel>(m_Queue), 1, most));
  }

  void
  SumForces(const PreTransformArguments & a,
            std::int64_t                  count,
            const Memory *                points,
            const Memory *                displacement,
            const Memory &                forces,
            Memory &                      partials) override
  {
    LaunchGroups<SumPreTransformForcesGroupKernel>(m_Queue,
                                                   GroupNumbers{ a.groupCount },
                                                   a,
                                                   count,
                                                   Input<i64>(points),
                                                   Input<float>(displacement),
                                                   Input<float>(forces),
                                                   Output<float>(partials));
  }

private:
  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(PreTransformPasses, GroupPreTransformPasses)

} // namespace gpureg
