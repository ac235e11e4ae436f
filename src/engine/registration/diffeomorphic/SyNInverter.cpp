// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/SyNInverter.h"

#include "engine/runtime/ForEachItem.h"

#include <algorithm>

namespace gpureg
{

namespace
{
constexpr int   MostIterations = 20;
constexpr float LargestError = 0.1F;
constexpr float MeanError = 0.001F;
} // namespace

void
SyNInverter::BeginLevel(const kernels::FieldGrid & grid)
{
  m_Grid = grid;
  m_Inversions.fill({});
  Reserve(m_Queue, m_States, m_Inversions.size() * sizeof(kernels::InversionState));
}

void
SyNInverter::Enqueue(std::size_t side, Memory & field, Memory & inverse, FieldReducer & reducer, Memory & lengths)
{
  Inversion * const both = &m_Inversions[2 * side];
  both[0].field = &field;
  both[0].inverse = &inverse;
  both[1].field = &inverse;
  both[1].inverse = &field;
  this->Begin(2 * side, reducer, lengths);
  this->Begin(2 * side + 1, reducer, lengths);
}

void
SyNInverter::Finish(FieldReducer & reducer, Memory & lengths)
{
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
      this->Begin(number, reducer, lengths);
      this->DownloadStates();
    }
    while (m_Downloaded[number].isLast == 0)
    {
      this->Iterate(number, 1, reducer, lengths);
      this->DownloadStates();
    }
    its.expected = m_Downloaded[number].iterations;
  }
}

void
SyNInverter::Begin(std::size_t number, FieldReducer & reducer, Memory & lengths)
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
  this->Iterate(number, std::clamp(m_Inversions[number].expected, 1, MostIterations), reducer, lengths);
}

void
SyNInverter::Iterate(std::size_t number, int iterations, FieldReducer & reducer, Memory & lengths)
{
  using kernels::InversionState;
  const auto             slot = static_cast<std::int64_t>(number);
  const std::int64_t     voxels = kernels::CountFieldVoxels(&m_Grid);
  const Inversion &      its = m_Inversions[number];
  kernels::InversionRule rule{};
  rule.voxels = voxels;
  rule.largestError = LargestError;
  rule.meanError = MeanError;
  rule.iterations = MostIterations;
  for (int iteration = 0; iteration < iterations; ++iteration)
  {
    ForEachItem<kernels::MeasureInversionErrorKernel>(m_Queue,
                                                      voxels,
                                                      Precision::Single,
                                                      m_Grid,
                                                      Input<RealNumber>(*its.field),
                                                      Input<RealNumber>(*its.inverse),
                                                      Input<InversionState>(*m_States, slot),
                                                      Output<float>(lengths));
    const FieldPartials found = reducer.ComputeLargestAndSumOfParts(lengths, voxels);
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
                                            m_Grid,
                                            Input<RealNumber>(*its.field),
                                            Input<InversionState>(*m_States, slot),
                                            Output<RealNumber>(*its.inverse));
  }
}

void
SyNInverter::DownloadStates()
{
  m_Queue.Download(m_Downloaded.data(), *m_States, sizeof(m_Downloaded));
}

} // namespace gpureg
