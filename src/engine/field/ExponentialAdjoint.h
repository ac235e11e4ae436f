// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ExponentialAdjoint_h
#define gpureg_ExponentialAdjoint_h

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldReducer.h"
#include "engine/runtime/Queue.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** Computes exp(v), or exp(-v), as FieldExponential does, and carries a gradient by its displacements back to one by the velocity: the
 *  transpose of each squaring, from the last one to the first, in which the velocity times its share is scaled. Keeps what each squaring
 *  starts from: 12 bytes a voxel and squaring, and 36 bytes a voxel besides. On one device the gradient's bits are the same for any number
 *  of threads. */
class ExponentialAdjoint
{
public:
  /** queue must outlive this object. */
  explicit ExponentialAdjoint(Queue & queue);

  /** Sets the grid, the velocity's share, and the number of squarings, 1 or more, and reserves the arrays. */
  void
  Set(const kernels::FieldGrid & grid, double share, int squarings);

  /** Enqueues exp(v), or, if isInverse, exp(-v). All are fields on the grid, and exponential is not velocity. */
  void
  Enqueue(const Memory & velocity, bool isInverse, Memory & exponential);

  /** Enqueues the gradient by the velocity that the last Enqueue() had, which must not have changed. Both gradients have a field's layout;
   *  byVelocity may be byExponential. */
  void
  EnqueueGradient(const Memory & velocity, const Memory & byExponential, Memory & byVelocity);

  std::size_t
  GetDeviceBytes() const;

private:
  /** Returns what a squaring multiplies its field by. The first one has number 0. */
  float
  GetScale(int squaring) const
  {
    return squaring > 0 ? 1.0F : m_FirstScale;
  }

  Queue &                    m_Queue;
  FieldReducer               m_Reducer;
  kernels::FieldGrid         m_Grid{};
  double                     m_Share = 1;
  int                        m_Squarings = 1;
  float                      m_FirstScale = 1;
  std::vector<MemoryPointer> m_Squared; // float[3]: what each squaring but the last one has written
  MemoryPointer              m_Carried; // float[3]
  MemoryPointer              m_Sums;    // 64-bit integers, 3 a voxel
  MemoryPointer              m_Largest; // float: the gradient's largest component
};

} // namespace gpureg

#endif
