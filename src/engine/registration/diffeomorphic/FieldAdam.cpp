// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/FieldAdam.h"

#include "engine/registration/AdamSteps.h"
#include "engine/runtime/ForEachItem.h"

namespace gpureg
{

namespace
{
// Measured between people: docs/notebook/displacement-fields.md. The means are of the last ten steps. The epsilon is a share of the longest
// vector of an update: vectors that are a tenth of it move half as far, and so smooth regions follow, but not noise.
constexpr double SecondDecay = 0.9;
constexpr double Epsilon = 0.1;
} // namespace

void
FieldAdam::BeginLevel(const LevelGrid & before, const LevelGrid & level)
{
  m_Grid = level.grid;
  m_OwnVoxels = GetVoxels(level, level.slab.GetOwnOfHeld());
  // Means that are carried have their steps behind them, and want no correction for having begun at 0.
  m_Step = before.grid.dimension == 0 ? 0 : m_Step;
  for (MemoryPointer * means : { &m_FirstMeans, &m_SecondMeans })
  {
    CarryField(m_Workspace, before, level, FieldEdge::Continues, *means);
  }
}

void
FieldAdam::Enqueue(double length, Memory & update, Memory & lengths, Memory & longest)
{
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Grid);
  ForEachItem<kernels::MoveFieldByAdamKernel>(*m_Workspace.queue,
                                              voxels,
                                              Precision::Single,
                                              m_Grid,
                                              MakeAdamStep(length, m_Step, SecondDecay, Epsilon),
                                              Input<float>(longest),
                                              Output<float>(*m_FirstMeans),
                                              Output<float>(*m_SecondMeans),
                                              Output<RealNumber>(update),
                                              Output<float>(lengths));
  m_Workspace.reducer.ComputeLargest(lengths, m_OwnVoxels.first, m_OwnVoxels.count, longest, 0);
  ++m_Step;
}

} // namespace gpureg
