// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/FieldScheme.h"

#include "engine/runtime/ForEachItem.h"

#include <utility>

namespace gpureg
{

FieldScheme::FieldScheme(SchemeWorkspace & workspace)
  : m_Workspace(workspace)
  , m_UpdateSmoother(*workspace.queue)
  , m_FieldSmoother(*workspace.queue)
{}

LevelGrid
FieldScheme::SetLevel(const LevelGrid & level)
{
  const LevelGrid before = std::exchange(m_Level, level);
  ReserveFields(m_Workspace, m_Level);
  ReserveFactors(*m_Workspace.queue, m_Factors);
  Reserve(*m_Workspace.queue, m_Longest, sizeof(float));
  return before;
}

void
FieldScheme::SetSmoothing(const DiffeomorphicSettings & settings, FieldBorder border)
{
  m_UpdateSmoother.Set(settings.updateSigma, m_Level.grid, border);
  m_FieldSmoother.Set(settings.fieldSigma, m_Level.grid, border);
}

void
FieldScheme::MakeUpdate(
  const Memory & forces, Memory & first, Memory & second, Memory & update, double length, int slot)
{
  m_UpdateSmoother.SmoothAndMeasure(forces, first, second, update, m_Workspace.reducer, *m_Longest);
  kernels::LongestVector longest{};
  longest.length = static_cast<float>(length);
  longest.slot = slot;
  ForEachItem<kernels::FindScaleFactorKernel>(
    *m_Workspace.queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
}

std::size_t
FieldScheme::GetUpdateBytes() const
{
  return m_UpdateSmoother.GetDeviceBytes() + m_FieldSmoother.GetDeviceBytes() + SizeOf(m_Factors) + SizeOf(m_Longest);
}

} // namespace gpureg
