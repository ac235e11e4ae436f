// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/ForceSum.h"

#include "engine/runtime/ForEachItem.h"

namespace gpureg
{

void
ForceSum::Add(
  FieldReducer & reducer, std::int64_t elements, const Memory & forces, double weight, bool isFirst, Memory & sum)
{
  Reserve(m_Queue, m_Numbers, sizeof(float) * kernels::ForceNumbers);
  reducer.ComputeLargestMagnitude(forces, 0, elements, *m_Numbers, kernels::ForceLargest);
  const kernels::Strips strips = CutIntoStrips(elements);
  Memory &              parts = reducer.GetPartials(strips.number);
  ForEachItem<kernels::SumSquaredForcesKernel>(
    m_Queue, strips.number, strips, Input<float>(forces), Input<float>(*m_Numbers), Output<float>(parts));
  reducer.Sum(parts, 0, strips.number, *m_Numbers, kernels::ForceSquares);
  ForEachItem<kernels::ComputeForceFactorKernel>(m_Queue, 1, static_cast<float>(weight), Output<float>(*m_Numbers));
  ForEachItem<kernels::AddForceToSumKernel>(
    m_Queue, elements, static_cast<int>(isFirst), Input<float>(*m_Numbers), Input<float>(forces), Output<float>(sum));
}

} // namespace gpureg
