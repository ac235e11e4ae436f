// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/SimilarityPasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/SimilaritySumKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
/** Launches one group, which adds up all chunks. */
class GroupSimilarityPasses : public SimilarityPasses
{
public:
  explicit GroupSimilarityPasses(Queue & queue)
    : m_Queue(queue)
  {}

  void
  Find(const SimilaritySums & a, const Memory & partials, Memory & evaluated) override
  {
    LaunchGroups<SimilarityGroupKernel>(
      m_Queue, GroupNumbers{ 1 }, a, Input<float>(partials), Output<float>(evaluated));
  }

private:
  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(SimilarityPasses, GroupSimilarityPasses)

} // namespace gpureg
