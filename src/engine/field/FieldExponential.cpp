// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldExponential.h"

#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <cmath>
#include <vector>

namespace gpureg
{

void
FieldExponential::Set(const kernels::FieldGrid & grid, double share, int squarings)
{
  m_Grid = grid;
  m_Squarings = squarings;
  const auto      scale = static_cast<float>(std::ldexp(share, -squarings));
  const float     factors[3] = { scale, -scale, 1.0F };
  MemoryPointer * arrays[3] = { &m_Factors[0], &m_Factors[1], &m_Ones };
  for (int n = 0; n < 3; ++n)
  {
    Reserve(m_Queue, *arrays[n], kernels::CompositionFactors * sizeof(float));
    UploadArray(m_Queue, **arrays[n], std::vector<float>(kernels::CompositionFactors, factors[n]));
  }
}

void
FieldExponential::Enqueue(const Memory & velocity, bool isInverse, Memory & scratch, Memory & exponential)
{
  const Memory * from = &velocity;
  const Memory * factors = m_Factors[isInverse ? 1 : 0].get();
  for (int left = m_Squarings; left > 0; --left)
  {
    // Squarings write to the two arrays in turn, the last one to the exponential.
    Memory & to = left % 2 == 1 ? exponential : scratch;
    ForEachItem<kernels::ComposeFieldsKernel>(m_Queue,
                                              kernels::CountFieldVoxels(&m_Grid),
                                              Precision::Single,
                                              m_Grid,
                                              Input<float>(*factors),
                                              Input<RealNumber>(*from),
                                              Input<RealNumber>(*from),
                                              Output<RealNumber>(to));
    from = &to;
    factors = m_Ones.get();
  }
}

} // namespace gpureg
