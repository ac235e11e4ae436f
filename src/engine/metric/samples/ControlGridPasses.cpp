// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/ControlGridPasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ControlGridKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
class GroupControlGridPasses : public ControlGridPasses
{
public:
  explicit GroupControlGridPasses(Queue & queue)
    : m_Queue(queue)
  {}

  void
  MoveRows(const ControlGridArguments & a,
           const ControlTables &        tables,
           const Memory &               expanded,
           Memory &                     displacement) override
  {
    const std::int64_t rows = std::int64_t{ a.virtualSize[1] } * a.virtualSize[2];
    LaunchGroups<MoveRowsGroupKernel>(
      m_Queue,
      GroupNumbers{ CountGroupsFor<MoveRowsGroupKernel>(m_Queue, rows * ControlRowLanes).x * CountSegments(&a) },
      a,
      Input<float4>(*tables.rowWeights),
      Input<ControlWeights>(*tables.weights),
      Input<int>(*tables.rowFirsts),
      Input<int>(*tables.segmentColumns),
      Input<float4>(expanded),
      Output<float>(displacement));
  }

  void
  ApplyAdjointAlong(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    const std::int64_t lanes = (a.inner + AdjointLines - 1) / AdjointLines;
    LaunchGroups<ApplyAdjointAlongGroupKernel>(
      m_Queue,
      GroupNumbers{ CountGroupsFor<ApplyAdjointAlongGroupKernel>(m_Queue, lanes).x, a.tileCount, a.outer },
      a,
      Input<float>(in),
      Input<ControlWeights>(*tables.weights),
      Input<ControlTile>(*tables.tiles),
      Output<float>(out));
  }

  void
  ApplyAdjointAlongX(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    const std::int64_t lanes = std::int64_t{ a.outer } * ControlRowLanes;
    LaunchGroups<ApplyAdjointAlongXGroupKernel>(m_Queue,
                                                GroupNumbers{
                                                  CountGroupsFor<ApplyAdjointAlongXGroupKernel>(m_Queue, lanes).x,
                                                  (a.controls + ControlRowLanes - 1) / ControlRowLanes },
                                                a,
                                                Input<float>(in),
                                                Input<ControlWeights>(*tables.weights),
                                                Input<ControlTile>(*tables.tiles),
                                                Output<float4>(out));
  }

  void
  ApplyAdjointAtSamples(const ChainPart &    part,
                        const VolumeShape &  shape,
                        const SortedByCell & sorted,
                        const Memory *       samplePoints,
                        const Memory &       forces,
                        Memory &             out) override
  {
    LaunchGroups<ApplyAdjointAtSamplesGroupKernel>(m_Queue,
                                                   GroupNumbers{ CountControlPoints(part) },
                                                   part,
                                                   shape,
                                                   sorted.cells,
                                                   Input<i64>(samplePoints),
                                                   Input<u32>(*sorted.order),
                                                   Input<u32>(*sorted.begins),
                                                   Input<float>(forces),
                                                   Output<float4>(out));
  }

private:
  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(ControlGridPasses, GroupControlGridPasses)

} // namespace gpureg
