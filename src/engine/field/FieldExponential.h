// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FieldExponential_h
#define gpureg_FieldExponential_h

#include "engine/field/FieldKernels.h"
#include "engine/runtime/Queue.h"

namespace gpureg
{

/** Enqueues a squaring: squared(x) ← s u(x) + s u(x + s u(x)), where s is the scale and u the field. squared is another array than
 *  field. */
void
EnqueueSquaring(Queue & queue, const kernels::FieldGrid & grid, float scale, const Memory & field, Memory & squared);

/** Exponentials of a stationary velocity by scaling and squaring: the displacements of exp(v) and of exp(-v), where v is a velocity times a
 *  share. u ← v/2^n, and then n times u(x) ← u(x) + u(x + u(x)) (Arsigny 2006). The first squaring applies the scale as well. The field's
 *  edge continues outside of its grid. */
class FieldExponential
{
public:
  /** queue must outlive this object. */
  explicit FieldExponential(Queue & queue)
    : m_Queue(queue)
  {}

  /** Sets the grid, the share, and the number of squarings, 1 or more. */
  void
  Set(const kernels::FieldGrid & grid, double share, int squarings);

  /** Enqueues exp(v), or, if isInverse, exp(-v). All are fields on the grid; scratch is overwritten, and none of the three is another
   *  one. */
  void
  Enqueue(const Memory & velocity, bool isInverse, Memory & scratch, Memory & exponential);

private:
  Queue &            m_Queue;
  kernels::FieldGrid m_Grid{};
  double             m_Share = 1;
  int                m_Squarings = 1;
};

} // namespace gpureg

#endif
