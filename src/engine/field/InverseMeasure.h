// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_InverseMeasure_h
#define gpureg_InverseMeasure_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/Queue.h"

#include "gpureg/field/FieldInverter.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Measures how well inverses undo deformations x + u(x), of which both are on the device: see kernels/field/FieldNewton.h. */
class InverseMeasure
{
public:
  /** queue must outlive it. */
  explicit InverseMeasure(Queue & queue)
    : m_Queue(queue)
  {}

  /** Waits for the errors of an inverse; does not look for folds. field, inverse: float[3] a voxel, mm. scratch: an array, neither of the
   *  fields, which is overwritten; as many voxels are described at a time as it has room for. */
  InverseErrors
  Measure(const kernels::FieldGrid & grid,
          const Memory &             field,
          const Memory &             inverse,
          FieldReducer &             reducer,
          MemoryPointer &            scratch);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Numbers);
  }

private:
  /** Sums of the numbers of InverseNumbers over some voxels, and behind them the largest error. */
  using Numbers = std::array<float, kernels::InverseNumbers + 1>;

  Numbers
  Describe(const kernels::FieldGrid & grid,
           const Memory &             field,
           const Memory &             inverse,
           std::int64_t               first,
           std::int64_t               voxels,
           FieldReducer &             reducer,
           Memory &                   scratch);

  Queue &       m_Queue;
  MemoryPointer m_Numbers;
};

} // namespace gpureg

#endif
