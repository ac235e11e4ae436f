// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_NewtonInverter_h
#define gpureg_NewtonInverter_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/Queue.h"

#include <cstddef>

namespace gpureg
{

/** Inverts fields by Newton's method: see kernels/field/FieldNewton.h. */
class NewtonInverter
{
public:
  /** Describes the lengths of the errors that are left, in voxels. */
  struct Errors
  {
    float largest;
    float sum;
  };

  /** queue must outlive this object. */
  explicit NewtonInverter(Queue & queue)
    : m_Queue(queue)
  {}

  /** Improves an inverse of a field, in place: each voxel by itself at first, then, where that did not converge, from the inverse at its
   *  neighbours, as long as that reduces the errors. Waits. errors: float[2] a voxel, of any contents; gets the errors that are left, in
   *  voxels, float[1] a voxel. */
  Errors
  Improve(const kernels::FieldGrid &  grid,
          const kernels::NewtonRule & rule,
          const Memory &              field,
          Memory &                    inverse,
          Memory &                    errors,
          FieldReducer &              reducer);

  std::size_t
  GetDeviceBytes() const
  {
    return SizeOf(m_Numbers);
  }

private:
  Errors
  MeasureErrors(const Memory & errors, std::int64_t voxels, FieldReducer & reducer);

  Queue &       m_Queue;
  MemoryPointer m_Numbers; // float: results of the reducer
};

} // namespace gpureg

#endif
