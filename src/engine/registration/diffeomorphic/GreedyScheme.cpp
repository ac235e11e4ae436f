// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/GreedyScheme.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Error.h"

namespace gpureg
{

namespace
{
constexpr const char * OneDeformation =
  "the greedy scheme finds one deformation, from the fixed to the moving image, without an inverse";
} // namespace

GreedyScheme::GreedyScheme(SchemeWorkspace & workspace)
  : FieldScheme(workspace, FieldBorder::Smoothed)
  , m_Forces(workspace)
{}

void
GreedyScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  const LevelGrid before = this->SetLevel(m_Forces.BeginLevel(problem, settings, number), settings);
  Reserve(*m_Workspace.queue, m_Workspace.second, CountBytes(m_Level.grid));
  CarryField(m_Workspace, before, m_Level, FieldEdge::Continues, m_Field);
}

void
GreedyScheme::Move(const DiffeomorphicSettings & settings, int t)
{
  Memory &           update = *m_Workspace.first;
  Memory &           second = *m_Workspace.second;
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Level.grid);
  m_Forces.Enqueue(*m_Field, second, update, t);
  // The smoothed update lies where it was smoothed along x.
  this->MakeUpdate(settings, update, second, update, second, settings.step, kernels::FactorOfInner);
  ForEachItem<kernels::ComposeFieldsKernel>(*m_Workspace.queue,
                                            voxels,
                                            Precision::Single,
                                            m_Level.grid,
                                            Input<float>(*m_Factors),
                                            Input<RealNumber>(*m_Field),
                                            Input<RealNumber>(second),
                                            Output<RealNumber>(update));
  m_FieldSmoother.Smooth(update, *m_Field, second, *m_Field);
  if (TeamMember * const member = GetMemberOf(m_Workspace, m_Level))
  {
    member->RefreshHalo(*m_Workspace.queue, m_Level, *m_Field);
  }
}

const Memory &
GreedyScheme::MakeField(DeformationField field)
{
  if (field != DeformationField::Forward)
  {
    throw BadInputError(OneDeformation);
  }
  return *m_Field;
}

InvertedDeformation
GreedyScheme::MakeInverse()
{
  throw BadInputError(OneDeformation);
}

void
GreedyScheme::FreeForces()
{
  m_Forces.Release();
}

std::size_t
GreedyScheme::GetDeviceBytes() const
{
  return this->GetUpdateBytes() + m_Forces.GetDeviceBytes() + SizeOf(m_Field);
}

kernels::FieldGrid
GreedyScheme::PlanLevel(const DiffeomorphicProblem &  problem,
                        const DiffeomorphicSettings & settings,
                        int                           number,
                        MemoryLedger &                ledger)
{
  const kernels::FieldGrid grid = m_Forces.PlanLevel(problem, settings, number, ledger);
  this->PlanUpdates(grid, settings, ledger);
  ledger.Reserve("scratch: second field", CountBytes(grid));
  ledger.Reserve("fields: deformation", CountBytes(grid));
  return grid;
}

} // namespace gpureg
