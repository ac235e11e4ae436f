// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormLine_h
#define gpureg_FreeFormLine_h

#include "engine/transform/ControlVectors.h"
#include "engine/registration/free_form/ControlLine.h"
#include "engine/registration/free_form/FreeFormCost.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpureg
{

/** A line along which control points move. */
class FreeFormLine
{
public:
  FreeFormLine(FreeFormCost & cost, FreeFormLevel & level)
    : m_Cost(cost)
    , m_Level(level)
    , m_Count(CountOf(level.grid.size))
    , m_Line(*level.core.queue, m_Count, MakeArrays(level))
  {}

  /** Enqueues the computation of the gradient at the points, and stores the similarity's value in a slot. */
  void
  EnqueueCostGradient(int slot)
  {
    const StepArrays evaluated = m_Cost.EnqueueGradient(slot);
    Queue &          queue = *m_Level.core.queue;
    CopyValue(queue, evaluated);
    gpureg::EnqueueCostGradient(
      queue, static_cast<float>(m_Cost.GetSimilarityUnit()), m_Count, evaluated, *m_Level.controlForces);
  }

  /** Enqueues the computation of the line's direction: against the gradient, or conjugate to the last direction. */
  void
  Turn(bool isConjugate)
  {
    m_Line.Turn(isConjugate);
  }

  /** Enqueues the placement of the points on the line. The farthest point moves by length from its position in begin. */
  void
  Place(double length, const Memory & begin)
  {
    m_Line.Place(static_cast<float>(length), begin, this->GetPoints());
  }

  /** Downloads kernels::LineNumbers numbers of the line. */
  std::array<float, kernels::LineNumbers>
  DownloadNumbers()
  {
    std::array<float, kernels::LineNumbers> numbers{};
    m_Level.core.queue->Download(numbers.data(), *m_Level.lineNumbers, sizeof(numbers));
    return numbers;
  }

  /** Downloads the gradient: x, y and z of each point. */
  std::vector<std::array<double, 3>>
  DownloadGradient()
  {
    return DownloadControlVectors<double>(*m_Level.core.queue, *m_Level.controlForces, m_Count);
  }

  /** Downloads the points: x, y and z of each one in mm. */
  std::vector<std::array<float, 3>>
  DownloadPoints()
  {
    return DownloadControlVectors<float>(*m_Level.core.queue, this->GetPoints(), m_Count);
  }

  void
  SetPoints(const std::vector<std::array<float, 3>> & points)
  {
    FillControlVectors(*m_Level.core.queue, points, this->GetPoints());
  }

  Memory &
  GetPoints()
  {
    return m_Level.core.samples.GetControlPoints().GetPoints();
  }

  /** Returns the bytes of all points. */
  std::size_t
  GetBytes() const
  {
    return sizeof(kernels::float4) * static_cast<std::size_t>(m_Count);
  }

private:
  static LineArrays
  MakeArrays(FreeFormLevel & level)
  {
    ReserveExactly(*level.core.queue, level.lineNumbers, sizeof(float) * kernels::LineNumbers);
    return { level.controlForces.get(), level.firstMeans.get(), level.secondMeans.get(), level.lineNumbers.get() };
  }

  FreeFormCost &  m_Cost;
  FreeFormLevel & m_Level;
  std::int64_t    m_Count;
  ControlLine     m_Line;
};

} // namespace gpureg

#endif
