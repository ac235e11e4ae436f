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

int
SyNInverter::Invert(const kernels::FieldGrid & grid,
                    FieldReducer &             reducer,
                    const Memory &             field,
                    Memory &                   inverse,
                    Memory &                   lengths,
                    int                        expected)
{
  const std::int64_t     voxels = kernels::CountFieldVoxels(&grid);
  kernels::InversionRule rule{};
  rule.voxels = voxels;
  rule.largestError = LargestError;
  rule.meanError = MeanError;
  kernels::InversionState state{};
  static_assert(sizeof(state) % sizeof(float) == 0, "it is cleared as floats");
  Reserve(m_Queue, m_State, sizeof(state));
  Reserve(m_Queue, m_Found, 2 * sizeof(float));
  ForEachItem<kernels::ClearElementKernel>(m_Queue, sizeof(state) / sizeof(float), Output<float>(*m_State));
  int enqueued = 0;
  for (int wanted = std::clamp(expected, 1, MostIterations); enqueued < MostIterations; wanted = enqueued + 1)
  {
    for (; enqueued < wanted; ++enqueued)
    {
      ForEachItem<kernels::MeasureInversionErrorKernel>(m_Queue,
                                                        voxels,
                                                        Precision::Single,
                                                        grid,
                                                        Input<RealNumber>(field),
                                                        Input<RealNumber>(inverse),
                                                        Input<kernels::InversionState>(*m_State),
                                                        Output<float>(lengths));
      reducer.FindLargestAndSum(lengths, voxels, *m_Found);
      ForEachItem<kernels::JudgeInversionKernel>(
        m_Queue, 1, rule, Input<float>(*m_Found), Input<float>(*m_Found, 1), Output<kernels::InversionState>(*m_State));
      ForEachItem<kernels::StepInverseKernel>(m_Queue,
                                              voxels,
                                              Precision::Single,
                                              grid,
                                              Input<RealNumber>(field),
                                              Input<kernels::InversionState>(*m_State),
                                              Output<RealNumber>(inverse));
    }
    m_Queue.Download(&state, *m_State, sizeof(state));
    if (state.isLast != 0)
    {
      break;
    }
  }
  return state.iterations;
}

} // namespace gpureg
