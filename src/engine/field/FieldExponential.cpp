// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldExponential.h"

#include "engine/runtime/ForEachItem.h"

#include <cmath>

namespace gpureg
{

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
    ForEachItem<kernels::SquareFieldKernel>(m_Queue,
                                            kernels::CountFieldVoxels(&m_Grid),
                                            Precision::Single,
                                            m_Grid,
                                            scale,
                                            Input<RealNumber>(*from),
                                            Output<RealNumber>(to));
    from = &to;
    scale = 1;
  }
}

} // namespace gpureg
