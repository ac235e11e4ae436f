// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlLine_h
#define gpureg_ControlLine_h

#include "engine/registration/free_form/ControlLinePasses.h"
#include "engine/runtime/ForEachItem.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

/** The arrays of a line of a conjugate gradient: float4, one per control point, except numbers. */
struct LineArrays
{
  /** The gradient of the cost at the points. */
  const Memory * gradient = nullptr;
  /** The gradient at the beginning of the last line; it is replaced by this line's gradient. */
  Memory * lastGradient = nullptr;
  /** The direction of the last line; it is replaced by this line's direction. */
  Memory * direction = nullptr;
  /** float[kernels::LineNumbers]. */
  Memory * numbers = nullptr;
};

/** A line along which count control points move, on one device. */
class ControlLine
{
public:
  /** queue must outlive this object, and so must the arrays. */
  ControlLine(Queue & queue, std::int64_t count, const LineArrays & arrays)
    : m_Queue(queue)
    , m_Count(count)
    , m_Arrays(arrays)
    , m_Passes(MakePasses<ControlLinePasses>(queue))
  {}

  /** Enqueues the computation of the next direction and its numbers. \param isConjugate true: it is conjugate to the last one; false: it
   *  opposes the gradient */
  void
  Turn(bool isConjugate)
  {
    m_Passes->ComputeConjugation(m_Count, isConjugate, *m_Arrays.gradient, *m_Arrays.lastGradient, *m_Arrays.numbers);
    ForEachItem<kernels::TurnDirectionKernel>(m_Queue,
                                              m_Count,
                                              Input<float>(m_Arrays.numbers),
                                              Input<kernels::float4>(m_Arrays.gradient),
                                              Output<kernels::float4>(m_Arrays.lastGradient),
                                              Output<kernels::float4>(m_Arrays.direction));
    m_Passes->ComputeLongest(m_Count, *m_Arrays.direction, *m_Arrays.numbers);
  }

  /** Enqueues points = begin + direction·length/(length of its longest vector). begin may be points. */
  void
  Place(float length, const Memory & begin, Memory & points)
  {
    ForEachItem<kernels::PlaceOnLineKernel>(m_Queue,
                                            m_Count,
                                            length,
                                            Input<float>(m_Arrays.numbers),
                                            Input<kernels::float4>(begin),
                                            Input<kernels::float4>(m_Arrays.direction),
                                            Output<kernels::float4>(points));
  }

private:
  Queue &                            m_Queue;
  std::int64_t                       m_Count;
  LineArrays                         m_Arrays;
  std::unique_ptr<ControlLinePasses> m_Passes;
};

} // namespace gpureg

#endif
