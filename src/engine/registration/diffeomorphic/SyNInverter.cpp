// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SyNInverter.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>

namespace gpureg
{

namespace
{
constexpr int   MostIterations = 20;
constexpr float LargestError = 0.1F;
constexpr float MeanError = 0.001F;

// Planes that are copied beyond an inverse's reach, so that its steps need not copy again.
constexpr double PlanesAhead = 2;
} // namespace

void
SyNInverter::BeginLevel()
{
  m_Inversions.fill({});
  Reserve(m_Queue, m_States, m_Inversions.size() * sizeof(kernels::InversionState));
  ReserveIf(m_Slab.IsCut(), m_Queue, m_Errors, 2 * sizeof(float));
}

void
SyNInverter::Enqueue(std::size_t side, SideField & field, SideField & inverse)
{
  Inversion * const both = &m_Inversions[2 * side];
  both[0].field = &field;
  both[0].inverse = &inverse;
  both[1].field = &inverse;
  both[1].inverse = &field;
  for (const std::size_t number : { 2 * side, 2 * side + 1 })
  {
    if (m_Slab.IsCut())
    {
      this->InvertTogether(number);
    }
    else
    {
      this->Begin(number);
    }
  }
}

void
SyNInverter::Finish()
{
  if (m_Slab.IsCut())
  {
    return;
  }
  this->DownloadStates();
  for (std::size_t number = 0; number < m_Inversions.size(); ++number)
  {
    Inversion & its = m_Inversions[number];
    if (its.field == nullptr)
    {
      continue;
    }
    if (m_Downloaded[number].iterations == 0)
    {
      // The inversion before it had not ended.
      this->Begin(number);
      this->DownloadStates();
    }
    while (m_Downloaded[number].isLast == 0)
    {
      this->Iterate(number, 1);
      this->DownloadStates();
    }
    its.expected = m_Downloaded[number].iterations;
  }
}

void
SyNInverter::ClearState(std::size_t number)
{
  using kernels::InversionState;
  const auto slot = static_cast<std::int64_t>(number);
  if (number % 2 == 0)
  {
    constexpr std::int64_t floats = sizeof(InversionState) / sizeof(float);
    static_assert(sizeof(InversionState) % sizeof(float) == 0, "it is cleared as floats");
    ForEachItem<kernels::ClearElementKernel>(m_Queue, floats, Output<float>(*m_States, slot * floats));
  }
  else
  {
    ForEachItem<kernels::BeginInversionKernel>(m_Queue,
                                               1,
                                               Output<InversionState>(*m_States, slot),
                                               Input<InversionState>(*m_States, slot - 1));
  }
}

void
SyNInverter::Begin(std::size_t number)
{
  this->ClearState(number);
  this->Iterate(number, std::clamp(m_Inversions[number].expected, 1, MostIterations));
}

void
SyNInverter::InvertTogether(std::size_t number)
{
  const Inversion &               its = m_Inversions[number];
  const kernels::InversionState & state = m_Downloaded[number];
  double                          surrounded = -1; // planes
  this->ClearState(number);
  do
  {
    if (!(its.inverse->reach <= surrounded))
    {
      surrounded = its.inverse->reach + PlanesAhead;
      m_Slab.Surround(*its.field, surrounded);
    }
    this->Iterate(number, 1);
    this->DownloadStates();
    // No step is longer than this: see kernels::StepInverse().
    its.inverse->reach += m_Slab.ToPlanes(static_cast<double>(state.step) * state.largestError);
  } while (state.isLast == 0);
}

FieldPartials
SyNInverter::FindErrors(const Memory & lengths)
{
  FieldReducer & reducer = m_Workspace.reducer;
  if (!m_Slab.IsCut())
  {
    return reducer.ComputeLargestAndSumOfParts(lengths, m_Slab.CountOwn());
  }
  reducer.ComputeLargestAndSum(lengths, m_Slab.CountOwn(), *m_Errors);
  std::array<float, 2> errors{};
  m_Queue.Download(errors.data(), *m_Errors, sizeof(errors));
  TeamMember & slabs = *m_Workspace.team.slabs;
  errors = { static_cast<float>(slabs.FindLargest(errors[0])), static_cast<float>(slabs.Sum({ errors[1] }).front()) };
  m_Queue.Upload(*m_Errors, 0, errors.data(), sizeof(errors));
  m_Queue.Finish();
  return { m_Errors.get(), 1 };
}

void
SyNInverter::Iterate(std::size_t number, int iterations)
{
  using kernels::InversionState;
  const auto                 slot = static_cast<std::int64_t>(number);
  const kernels::FieldGrid & grid = m_Slab.GetGrid();
  const std::int64_t         voxels = m_Slab.CountOwn();
  const Memory &             field = *m_Inversions[number].field->vectors;
  Memory &                   inverse = *m_Inversions[number].inverse->vectors;
  const std::int64_t         first = 3 * m_Slab.GetFirst();
  Memory &                   lengths = *m_Workspace.first;
  kernels::InversionRule     rule{};
  rule.voxels = m_Slab.CountAll();
  rule.largestError = LargestError;
  rule.meanError = MeanError;
  rule.iterations = MostIterations;
  for (int iteration = 0; iteration < iterations; ++iteration)
  {
    ForEachItem<kernels::MeasureInversionErrorKernel>(m_Queue,
                                                      voxels,
                                                      Precision::Single,
                                                      grid,
                                                      Input<RealNumber>(field),
                                                      Input<RealNumber>(inverse, first),
                                                      Input<InversionState>(*m_States, slot),
                                                      Output<float>(lengths));
    const FieldPartials found = this->FindErrors(lengths);
    rule.parts = found.count;
    ForEachItem<kernels::JudgeInversionKernel>(m_Queue,
                                               1,
                                               rule,
                                               Input<float>(*found.memory),
                                               Input<float>(*found.memory, found.count),
                                               Output<InversionState>(*m_States, slot));
    ForEachItem<kernels::StepInverseKernel>(m_Queue,
                                            voxels,
                                            Precision::Single,
                                            grid,
                                            Input<RealNumber>(field),
                                            Input<InversionState>(*m_States, slot),
                                            Output<RealNumber>(inverse, first));
  }
}

void
SyNInverter::DownloadStates()
{
  m_Queue.Download(m_Downloaded.data(), *m_States, sizeof(m_Downloaded));
}

} // namespace gpureg
