// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/pairs/PairPasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/samples/SampleVariants.h"
#include "kernels/metric/pairs/PairVariants.h"
#include "kernels/metric/pairs/ValuePairKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// The groups that an H200 runs at once: four on each multiprocessor.
constexpr int TargetGroups = 528;

class GroupPairPasses : public PairPasses
{
public:
  explicit GroupPairPasses(Queue & queue)
    : m_Queue(queue)
  {}

  SampleGrain
  GetGrain() const override
  {
    const GroupTraits traits = m_Queue.GetGroupTraits();
    return {
      GetGroupLanes<SumPairsGroupKernel>(m_Queue), traits.GetTargetGroups(TargetGroups), traits.localBytes, true
    };
  }

  void
  Prepare(int variant, int task) override
  {
    PrepareGroups<SumPairsGroupKernel>(m_Queue, ChoosePairVariant(variant), task);
  }

  void
  SumPairs(const PairArguments & a, const SampleMaps & maps, const PairArrays & arrays) override
  {
    LaunchGroups<SumPairsGroupKernel>(m_Queue,
                                      this->CountGroups<SumPairsGroupKernel>(a, 1),
                                      ChoosePairVariant(a.samples.variant),
                                      a.task,
                                      a,
                                      maps,
                                      GetVolumeArguments(*arrays.samples),
                                      Input<float>(arrays.evaluated.get()),
                                      Output<float>(*arrays.partials),
                                      Output<float>(arrays.forces));
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  SumBatch(const PairArguments & a, BatchRange range, const PairArrays & arrays, const BatchArrays & batch) override
  {
    LaunchGroups<BatchPairGroupKernel>(m_Queue,
                                       this->CountGroups<BatchPairGroupKernel>(a, range.count),
                                       ChooseVariant(a.samples.variant),
                                       a.task,
                                       a,
                                       GetVolumeArguments(*arrays.samples),
                                       Output<float>(*arrays.partials),
                                       Input<SampleMaps>(*batch.maps),
                                       range.first);
  }

private:
  /** Returns a group for each chunk of each candidate, with local memory for its lanes' sums. */
  template <typename TKernel>
  GroupNumbers
  CountGroups(const PairArguments & a, std::int64_t candidates) const
  {
    const auto lanes = static_cast<std::size_t>(GetGroupLanes<TKernel>(m_Queue));
    const auto floats = static_cast<std::size_t>(FloatsOfSum(a.samples.variant) * ForceSumCount);
    return { candidates * ChunkCount(&a.samples), 1, 1, floats * lanes * sizeof(float) };
  }

  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(PairPasses, GroupPairPasses)

} // namespace gpureg
