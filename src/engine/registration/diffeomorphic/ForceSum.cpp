// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/ForceSum.h"

#include "engine/field/FieldKernels.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>

namespace gpureg
{

namespace
{
// The most strips that forces are cut into, which fill a GPU. They do not depend on the device, as a sum's rounding would.
constexpr std::int64_t MostStrips = std::int64_t{ 1 } << 15;
} // namespace

void
ForceSum::Add(
  FieldReducer & reducer, std::int64_t elements, const Memory & forces, double weight, bool isFirst, Memory & sum)
{
  Reserve(m_Queue, m_Numbers, sizeof(float) * kernels::ForceNumbers);
  const kernels::Strips strips{ elements, static_cast<int>(std::min(elements, MostStrips)), 1 };
  Memory &              parts = reducer.GetParts(strips.number);
  ForEachItem<kernels::FindLargestForceKernel>(
    m_Queue, strips.number, strips, Input<float>(forces), Output<float>(parts));
  reducer.FindLargest(parts, 0, strips.number, *m_Numbers, kernels::ForceLargest);
  ForEachItem<kernels::SumSquaredForcesKernel>(
    m_Queue, strips.number, strips, Input<float>(forces), Input<float>(*m_Numbers), Output<float>(parts));
  reducer.Sum(parts, 0, strips.number, *m_Numbers, kernels::ForceSquares);
  ForEachItem<kernels::FindForceFactorKernel>(m_Queue, 1, static_cast<float>(weight), Output<float>(*m_Numbers));
  ForEachItem<kernels::AddForceToSumKernel>(
    m_Queue, elements, static_cast<int>(isFirst), Input<float>(*m_Numbers), Input<float>(forces), Output<float>(sum));
}

} // namespace gpureg
