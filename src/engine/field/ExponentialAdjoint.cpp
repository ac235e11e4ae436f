// SPDX-License-Identifier: Apache-2.0
#include "engine/field/ExponentialAdjoint.h"

#include "engine/field/FieldExponential.h"
#include "engine/field/Squarings.h"
#include "engine/runtime/ForEachItem.h"

namespace gpureg
{

ExponentialAdjoint::ExponentialAdjoint(Queue & queue)
  : m_Queue(queue)
  , m_Reducer(queue)
{}

void
ExponentialAdjoint::Set(const kernels::FieldGrid & grid, double share, int squarings)
{
  m_Grid = grid;
  m_Share = share;
  m_Squarings = squarings;
  const auto components = 3 * static_cast<std::size_t>(kernels::CountFieldVoxels(&grid));
  m_Squared.resize(static_cast<std::size_t>(squarings) - 1);
  for (MemoryPointer & squared : m_Squared)
  {
    Reserve(m_Queue, squared, components * sizeof(float));
  }
  Reserve(m_Queue, m_Carried, components * sizeof(float));
  Reserve(m_Queue, m_Sums, components * sizeof(kernels::u64));
  Reserve(m_Queue, m_Largest, sizeof(float));
}

void
ExponentialAdjoint::Enqueue(const Memory & velocity, bool isInverse, Memory & exponential)
{
  m_FirstScale = ComputeSquaringScale(m_Share, isInverse, m_Squarings);
  const Memory * from = &velocity;
  for (int squaring = 0; squaring < m_Squarings; ++squaring)
  {
    Memory & to = squaring + 1 == m_Squarings ? exponential : *m_Squared[static_cast<std::size_t>(squaring)];
    EnqueueSquaring(m_Queue, m_Grid, this->GetScale(squaring), *from, to);
    from = &to;
  }
}

void
ExponentialAdjoint::EnqueueGradient(const Memory & velocity, const Memory & byExponential, Memory & byVelocity)
{
  const std::int64_t voxels = kernels::CountFieldVoxels(&m_Grid);
  const float        units = ComputeScatterUnits(voxels);
  const Memory *     from = &byExponential;
  for (int squaring = m_Squarings - 1; squaring >= 0; --squaring)
  {
    const Memory & field = squaring > 0 ? *m_Squared[static_cast<std::size_t>(squaring) - 1] : velocity;
    const float    scale = this->GetScale(squaring);
    m_Reducer.ComputeLargestMagnitude(*from, 0, 3 * voxels, *m_Largest, 0);
    ForEachItem<kernels::CarryToVoxelKernel>(m_Queue,
                                             voxels,
                                             Precision::Single,
                                             m_Grid,
                                             scale,
                                             Input<RealNumber>(field),
                                             Input<RealNumber>(*from),
                                             Output<kernels::u64>(*m_Sums),
                                             Output<RealNumber>(*m_Carried));
    ForEachItem<kernels::ScatterToCornersKernel>(m_Queue,
                                                 voxels,
                                                 Precision::Single,
                                                 m_Grid,
                                                 scale,
                                                 units,
                                                 Input<float>(*m_Largest),
                                                 Input<RealNumber>(field),
                                                 Input<RealNumber>(*from),
                                                 Output<kernels::u64>(*m_Sums));
    ForEachItem<kernels::AddScatteredKernel>(m_Queue,
                                             3 * voxels,
                                             Precision::Single,
                                             scale,
                                             units,
                                             Input<float>(*m_Largest),
                                             Input<kernels::u64>(*m_Sums),
                                             Input<RealNumber>(*m_Carried),
                                             Output<RealNumber>(byVelocity));
    from = &byVelocity;
  }
}

std::size_t
ExponentialAdjoint::GetDeviceBytes() const
{
  std::size_t bytes = m_Reducer.GetDeviceBytes() + SizeOf(m_Carried) + SizeOf(m_Sums) + SizeOf(m_Largest);
  for (const MemoryPointer & squared : m_Squared)
  {
    bytes += SizeOf(squared);
  }
  return bytes;
}

} // namespace gpureg
