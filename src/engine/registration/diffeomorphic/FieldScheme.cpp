// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/FieldScheme.h"

#include "engine/field/CountBlocks.h"
#include "engine/field/FieldSums.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gpureg
{

namespace
{
// An inverse that is about right needs one reading or two, each of which squares the error; no step is halved where nothing folds. Error:
// voxels.
constexpr kernels::NewtonRule Refinement{ 16, 1e-4F, 0, 1 };
} // namespace

bool
HasWeights(const DiffeomorphicSettings & settings)
{
  return std::any_of(settings.weights.begin(), settings.weights.end(), [](double weight) { return weight != 1; });
}

FieldScheme::FieldScheme(SchemeWorkspace & workspace, FieldBorder border)
  : m_Workspace(workspace)
  , m_UpdateSmoother(*workspace.queue)
  , m_FieldSmoother(*workspace.queue)
  , m_NewtonInverter(*workspace.queue)
  , m_Border(border)
{}

LevelGrid
FieldScheme::SetLevel(const LevelGrid & level, const DiffeomorphicSettings & settings)
{
  const LevelGrid before = std::exchange(m_Level, level);
  this->ReserveFirst();
  ReserveFactors(*m_Workspace.queue, m_Factors);
  Reserve(*m_Workspace.queue, m_Longest, sizeof(float));
  this->SetSmoothing(settings);
  this->BeginAdam(before, settings);
  m_Window.reset();
  if (settings.convergenceWindow > 0)
  {
    m_Window.emplace(static_cast<std::size_t>(settings.convergenceWindow));
  }
  return before;
}

void
FieldScheme::SetSmoothing(const DiffeomorphicSettings & settings)
{
  const GaussianKind kind =
    settings.smoothing == DiffeomorphicSmoothing::Recursive ? GaussianKind::Recursive : GaussianKind::Discrete;
  m_UpdateSmoother.Set(settings.updateSigma, m_Level.grid, m_Border, kind);
  m_UpdateSmoother.SetMeasuredPlanes(m_Level.slab.GetOwnOfHeld());
  m_FieldSmoother.Set(settings.fieldSigma, m_Level.grid, m_Border, kind);
  m_Smoothing = settings.smoothing;
  m_UpdateSigma = settings.updateSigma;
  m_FieldSigma = settings.fieldSigma;
}

void
FieldScheme::BeginAdam(const LevelGrid & before, const DiffeomorphicSettings & settings)
{
  if (settings.optimizer != DiffeomorphicOptimizer::Adam)
  {
    m_Adam.reset();
    return;
  }
  const bool hasMeans = m_Adam.has_value();
  if (!hasMeans)
  {
    m_Adam.emplace(m_Workspace);
  }
  m_Adam->BeginLevel(hasMeans ? before : LevelGrid{}, m_Level);
}

bool
FieldScheme::Iterate(const DiffeomorphicSettings & settings, int t)
{
  if (settings.updateSigma != m_UpdateSigma || settings.fieldSigma != m_FieldSigma || settings.smoothing != m_Smoothing)
  {
    this->SetSmoothing(settings);
  }
  this->Move(settings, t);
  if (!m_Window)
  {
    return true;
  }
  double cost = this->DownloadCosts(t + 1).back();
  for (TeamMember * const member : { m_Workspace.team.slabs, m_Workspace.team.sides })
  {
    // Devices round costs differently, and all are to end the level.
    cost = member != nullptr ? member->TakeFrom(0, cost) : cost;
  }
  return m_Window->Add(cost) >= settings.convergenceThreshold;
}

Memory &
FieldScheme::GetSecondArray(const DiffeomorphicSettings & settings, Memory & forces)
{
  if (!m_UpdateSmoother.HasUnsmoothedShare() || HasWeights(settings))
  {
    return forces;
  }
  Reserve(*m_Workspace.queue, m_Workspace.second, CountBytes(m_Level.grid));
  return *m_Workspace.second;
}

Memory &
FieldScheme::ReserveFirst()
{
  Reserve(*m_Workspace.queue, m_Workspace.first, CountBytes(m_Level.grid));
  return *m_Workspace.first;
}

const Memory &
FieldScheme::Weigh(const Memory & forces, const DiffeomorphicSettings & settings)
{
  if (!HasWeights(settings))
  {
    return forces;
  }
  Reserve(*m_Workspace.queue, m_Weighted, CountBytes(m_Level.grid));
  const std::int64_t    elements = 3 * kernels::CountFieldVoxels(&m_Level.grid);
  kernels::FieldWeights factors{};
  std::copy(settings.weights.begin(), settings.weights.end(), factors.first);
  AddFields(*m_Workspace.queue, elements, factors, forces, forces, *m_Weighted);
  return *m_Weighted;
}

void
FieldScheme::MakeUpdate(const DiffeomorphicSettings & settings,
                        const Memory &                forces,
                        Memory &                      first,
                        Memory &                      second,
                        Memory &                      update,
                        double                        length,
                        int                           slot)
{
  m_UpdateSmoother.SmoothAndMeasure(
    this->Weigh(forces, settings), first, second, update, m_Workspace.reducer, *m_Longest);
  this->FindLongestOfTeam();
  kernels::LongestVector longest{};
  longest.length = static_cast<float>(length);
  if (m_Adam)
  {
    m_Adam->Enqueue(length, update, second, *m_Longest);
    this->FindLongestOfTeam();
    longest.onlyShrinks = 1;
  }
  longest.slot = slot;
  ForEachItem<kernels::ComputeScaleFactorKernel>(
    *m_Workspace.queue, 1, longest, Input<float>(*m_Longest), Output<float>(*m_Factors));
}

void
FieldScheme::FindLongestOfTeam()
{
  if (TeamMember * const member = GetMemberOf(m_Workspace, m_Level))
  {
    member->FindLargestOnDevice(*m_Workspace.queue, *m_Longest, 0);
  }
}

void
FieldScheme::RefineInverse(const Memory & deformation, Memory & inverse, Memory & errors)
{
  m_NewtonInverter.Improve(m_Level.grid, Refinement, deformation, inverse, errors, m_Workspace.reducer);
}

void
FieldScheme::PlanUpdates(const kernels::FieldGrid & grid, const DiffeomorphicSettings & settings, MemoryLedger & ledger)
{
  const std::size_t field = CountBytes(grid);
  ledger.Reserve("scratch: first field", field);
  if (HasWeights(settings))
  {
    ledger.Reserve("scratch: weighted update", field);
  }
  if (settings.optimizer == DiffeomorphicOptimizer::Adam)
  {
    ledger.Reserve("fields: first means of Adam", field);
    ledger.Reserve("fields: second means of Adam", field);
  }
  if (settings.smoothing == DiffeomorphicSmoothing::Recursive)
  {
    const auto plan = [&](double sigma, const FieldSmoother & smoother, const char * name) {
      ledger.Reserve(name, sigma > 0 ? smoother.CountStateBytes(grid) : 0);
    };
    plan(settings.updateSigma, m_UpdateSmoother, "scratch: states of the update's Gaussian");
    plan(settings.fieldSigma, m_FieldSmoother, "scratch: states of the field's Gaussian");
  }
  FieldReducer::Plan(CountBlocks(*m_Workspace.queue, grid, 2, kernels::DeviceBlockLength), "scratch: ", ledger);
}

std::size_t
FieldScheme::GetUpdateBytes() const
{
  return m_UpdateSmoother.GetDeviceBytes() + m_FieldSmoother.GetDeviceBytes() + SizeOf(m_Factors) + SizeOf(m_Weighted) +
         SizeOf(m_Longest) + m_NewtonInverter.GetDeviceBytes() + (m_Adam ? m_Adam->GetDeviceBytes() : 0);
}

} // namespace gpureg
