// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_InverseMeasure_h
#define gpureg_InverseMeasure_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/field/StartTransform.h"
#include "engine/runtime/Queue.h"

#include "gpureg/field/FieldInverter.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Measures how well inverses undo deformations x + u(x), of which both are on the device: see kernels/field/FieldNewton.h. */
class InverseMeasure
{
public:
  /** queue must outlive this object. */
  explicit InverseMeasure(Queue & queue)
    : m_Queue(queue)
  {}

  /** Waits for the errors of an inverse; does not look for folds. field, inverse: float[3] a voxel, mm. scratch: an array, neither of the
   *  fields, which is overwritten; its size limits how many voxels are described at a time. */
  InverseErrors
  Measure(const kernels::FieldGrid & grid,
          const Memory &             field,
          const Memory &             inverse,
          FieldReducer &             reducer,
          MemoryPointer &            scratch);

  /** Does so for a transform whose affine maps together are 1, in place of a field on the inverse's grid. */
  InverseErrors
  Measure(const kernels::FieldGrid & grid,
          StartTransform &           transform,
          const Memory &             inverse,
          FieldReducer &             reducer,
          MemoryPointer &            scratch);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Numbers);
  }

private:
  /** Adds up what describe(first, count, numbers) writes of so many voxels from the first one on. */
  template <typename TDescribe>
  InverseErrors
  AddUp(std::int64_t voxels, FieldReducer & reducer, MemoryPointer & scratch, const TDescribe & describe);

  Queue &       m_Queue;
  MemoryPointer m_Numbers; // float: sums of the numbers of InverseNumbers, and behind them the largest error
};

} // namespace gpureg

#endif
