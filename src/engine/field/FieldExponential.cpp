// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldExponential.h"

#include "engine/runtime/ForEachItem.h"

#include <cmath>

namespace gpureg
{

void
EnqueueSquaring(Queue & queue, const kernels::FieldGrid & grid, float scale, const Memory & field, Memory & squared)
{
  ForEachItem<kernels::SquareFieldKernel>(queue,
                                          kernels::CountFieldVoxels(&grid),
                                          Precision::Single,
                                          grid,
                                          scale,
                                          Input<RealNumber>(field),
                                          Output<RealNumber>(squared));
}

void
FieldExponential::Set(const kernels::FieldGrid & grid, double share, int squarings)
{
  m_Grid = grid;
  m_Share = share;
  m_Squarings = squarings;
}

void
FieldExponential::Enqueue(const Memory & velocity, bool isInverse, Memory & scratch, Memory & exponential)
{
  const Memory * from = &velocity;
  auto           scale = static_cast<float>(std::ldexp(isInverse ? -m_Share : m_Share, -m_Squarings));
  for (int left = m_Squarings; left > 0; --left)
  {
    // Squarings write to the two arrays in turn, the last one to the exponential.
    Memory & to = left % 2 == 1 ? exponential : scratch;
    EnqueueSquaring(m_Queue, m_Grid, scale, *from, to);
    from = &to;
    scale = 1;
  }
}

} // namespace gpureg
