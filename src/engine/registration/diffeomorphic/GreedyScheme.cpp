// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/GreedyScheme.h"

#include "engine/runtime/ForEachItem.h"

#include "gpureg/core/Error.h"

#include <utility>

namespace gpureg
{

GreedyScheme::GreedyScheme(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_Forces(workspace)
  , m_UpdateSmoother(*workspace.queue)
  , m_FieldSmoother(*workspace.queue)
{}

void
GreedyScheme::BeginLevel(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number)
{
  Queue &         queue = *m_Workspace.queue;
  const LevelGrid before = std::exchange(m_Level, m_Forces.BeginLevel(problem, settings, number));
  ReserveFields(m_Workspace, m_Level);
  CarryField(m_Workspace, before, m_Level, m_Field);
  ReserveFactors(queue, m_Factors);
  Reserve(queue, m_Longest, sizeof(float));
  m_UpdateSmoother.Set(settings.updateSigma, m_Level.grid);
  m_FieldSmoother.Set(settings.fieldSigma, m_Level.grid);
}

bool
GreedyScheme::Iterate(const DiffeomorphicSettings & settings, int t)
{
  Queue &            queue = *m_Workspace.queue;
  FieldReducer &     reducer = m_Workspace.reducer;
  Memory &           update = *m_Workspace.first;
  Memory &           second = *m_Workspace.second;
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Level.grid);
  m_Forces.Enqueue(*m_Field, second, update, t);
  // The smoothed update lies where it was smoothed along x.
  m_UpdateSmoother.SmoothAndMeasure(update, second, update, second, reducer, *m_Longest);
  kernels::LongestVector longest{};
  longest.length = static_cast<float>(settings.step);
  longest.slot = kernels::FactorOfInner;
  ForEachItem<kernels::FindScaleFactorKernel>(queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
  ForEachItem<kernels::ComposeFieldsKernel>(queue,
                                            voxels,
                                            Precision::Single,
                                            m_Level.grid,
                                            Input<float>(*m_Factors),
                                            Input<RealNumber>(*m_Field),
                                            Input<RealNumber>(second),
                                            Output<RealNumber>(update));
  m_FieldSmoother.Smooth(update, *m_Field, second, *m_Field);
  return true;
}

const Memory &
GreedyScheme::MakeField(DeformationField field)
{
  if (field != DeformationField::Forward)
  {
    throw BadInputError(
      "the greedy scheme finds one deformation, from the fixed to the moving image, without an inverse");
  }
  return *m_Field;
}

std::size_t
GreedyScheme::GetDeviceBytes() const
{
  std::size_t bytes = m_Forces.GetDeviceBytes() + m_UpdateSmoother.GetDeviceBytes() + m_FieldSmoother.GetDeviceBytes();
  for (const MemoryPointer * array : { &m_Field, &m_Factors, &m_Longest })
  {
    bytes += SizeOf(*array);
  }
  return bytes;
}

} // namespace gpureg
