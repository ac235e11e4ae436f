// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldSmoother_h
#define gpureg_FieldSmoother_h

#include "kernels/core/Prelude.h"
#include "kernels/field/FieldGrid.h"

#include "engine/runtime/Queue.h"

#include <array>
#include <cstddef>

namespace gpureg
{

/** Smooths fields by a discrete Gaussian, which continues the field beyond the grid's edge. */
class FieldSmoother
{
public:
  /** queue must outlive it. */
  explicit FieldSmoother(Queue & queue)
    : m_Queue(queue)
  {}

  /** Sets the Gaussian's standard deviation, in voxels, and the grid. 0: Smooth() copies the field. */
  void
  Set(double sigma, const kernels::FieldGrid & grid);

  /** Enqueues the smoothing of field into smoothed. scratch: an array of the same size, which is overwritten, as field is; smoothed may be
   *  scratch, but not field. */
  void
  Smooth(Memory & field, Memory & scratch, Memory & smoothed);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Weights);
  }

private:
  Queue &            m_Queue;
  kernels::FieldGrid m_Grid{};
  MemoryPointer      m_Weights; // float: of all axes, behind each other
  std::array<int, 3> m_Radius{};
  std::array<int, 3> m_First{};
};

} // namespace gpureg

#endif
