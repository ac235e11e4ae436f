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

/** What smoothing makes of a field's border. */
enum class FieldBorder
{
  /** It is smoothed as if the field continued beyond it. */
  Smoothed,
  /** It is 0, and a part of the field stays unsmoothed where sigma is short: see FindKeptPart(). So does itk::SyNImageRegistrationMethod. */
  Zero
};

/** Smooths fields by a discrete Gaussian, which continues the field beyond the grid's edge. */
class FieldSmoother
{
public:
  /** queue must outlive it. */
  explicit FieldSmoother(Queue & queue)
    : m_Queue(queue)
  {}

  /** Sets the Gaussian's standard deviation, in voxels, and the grid. 0: Smooth() copies the field, its border included. */
  void
  Set(double sigma, const kernels::FieldGrid & grid, FieldBorder border = FieldBorder::Smoothed);

  /** Enqueues the smoothing of field into smoothed. first, second: arrays of the same size, which are overwritten. smoothed may be first or
   *  field; with FieldBorder::Smoothed, second may be field. */
  void
  Smooth(const Memory & field, Memory & first, Memory & second, Memory & smoothed);

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
  bool               m_IsZeroAtBorder = false;
  float              m_Kept = 0;
};

} // namespace gpureg

#endif
