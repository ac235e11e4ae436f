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
    if (m_StatesOnHost[number].iterations == 0)
    {
      // The inversion before it had not ended.
      this->Begin(number);
      this->DownloadStates();
    }
    while (m_StatesOnHost[number].isLast == 0)
    {
      this->Iterate(number, 1);
      this->DownloadStates();
    }
    its.expected = m_StatesOnHost[number].iterations;
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
SyNInverter::Iterate(std::size_t number, int iterations)
{
  for (int iteration = 0; iteration < iterations; ++iteration)
  {
    this->MeasureErrors(number);
    this->Judge(number);
    this->TakeStep(number);
  }
}

void
SyNInverter::InvertTogether(std::size_t number)
{
  const Inversion &         its = m_Inversions[number];
  kernels::InversionState & state = m_StatesOnHost[number];
  double                    surrounded = -1; // planes
  state = {};
  this->UploadState(number);
  do
  {
    if (!(its.inverse->reach <= surrounded))
    {
      surrounded = its.inverse->reach + PlanesAhead;
      m_Slab.Surround(*its.field, surrounded);
    }
    this->MeasureErrors(number);
    this->JudgeTogether(number);
    this->TakeStep(number);
    // A step is no longer: an error is cut to step times the largest one, and multiplied by step. See kernels::StepInverse().
    its.inverse->reach += m_Slab.ToPlanes(static_cast<double>(state.step) * state.step * state.largestError);
  } while (state.isLast == 0);
}

kernels::InversionRule
SyNInverter::MakeRule(int parts) const
{
  kernels::InversionRule rule{};
  rule.voxels = m_Slab.CountAll();
  rule.largestError = LargestError;
  rule.meanError = MeanError;
  rule.iterations = MostIterations;
  rule.parts = parts;
  return rule;
}

void
SyNInverter::MeasureErrors(std::size_t number)
{
  ForEachItem<kernels::MeasureInversionErrorKernel>(m_Queue,
                                                    m_Slab.CountOwn(),
                                                    Precision::Single,
                                                    m_Slab.GetGrid(),
                                                    Input<RealNumber>(*m_Inversions[number].field->vectors),
                                                    Input<RealNumber>(m_Slab.GetOwn(*m_Inversions[number].inverse)),
                                                    Input<kernels::InversionState>(*m_States,
                                                                                   static_cast<std::int64_t>(number)),
                                                    Output<float>(*m_Workspace.first));
}

void
SyNInverter::Judge(std::size_t number)
{
  const FieldPartials found = m_Workspace.reducer.ComputeLargestAndSumOfParts(*m_Workspace.first, m_Slab.CountOwn());
  ForEachItem<kernels::JudgeInversionKernel>(m_Queue,
                                             1,
                                             this->MakeRule(found.count),
                                             Input<float>(*found.memory),
                                             Input<float>(*found.memory, found.count),
                                             Output<kernels::InversionState>(*m_States,
                                                                             static_cast<std::int64_t>(number)));
}

void
SyNInverter::JudgeTogether(std::size_t number)
{
  m_Workspace.reducer.ComputeLargestAndSum(*m_Workspace.first, m_Slab.CountOwn(), *m_Errors);
  std::array<float, 2> errors{};
  m_Queue.Download(errors.data(), *m_Errors, sizeof(errors));
  const auto joined = m_Workspace.team.slabs->FindLargestAndSum({ errors[0], errors[1] });
  const auto largest = static_cast<float>(joined.largest);
  const auto sum = static_cast<float>(joined.sum);
  // Devices of other kinds may divide otherwise, and all are to end an inversion together.
  const auto rule = this->MakeRule(1);
  kernels::JudgeInversion(&rule, &largest, &sum, m_StatesOnHost.data(), static_cast<kernels::i64>(number));
  this->UploadState(number);
}

void
SyNInverter::TakeStep(std::size_t number)
{
  ForEachItem<kernels::StepInverseKernel>(m_Queue,
                                          m_Slab.CountOwn(),
                                          Precision::Single,
                                          m_Slab.GetGrid(),
                                          Input<RealNumber>(*m_Inversions[number].field->vectors),
                                          Input<kernels::InversionState>(*m_States, static_cast<std::int64_t>(number)),
                                          Output<RealNumber>(*m_Inversions[number].inverse->vectors,
                                                             3 * m_Slab.GetFirst()));
}

void
SyNInverter::UploadState(std::size_t number)
{
  constexpr std::size_t bytes = sizeof(kernels::InversionState);
  m_Queue.Upload(*m_States, number * bytes, &m_StatesOnHost[number], bytes);
  // The host's state changes next.
  m_Queue.Finish();
}

void
SyNInverter::DownloadStates()
{
  m_Queue.Download(m_StatesOnHost.data(), *m_States, sizeof(m_StatesOnHost));
}

} // namespace gpureg
