// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/ForceSum.h"

#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/runtime/ForEachItem.h"

namespace gpureg
{

void
ForceSum::SetLevel(const LevelGrid & level, TeamMember * member)
{
  const Range own = GetVoxels(level, level.slab.GetOwnOfHeld());
  m_Elements = 3 * kernels::CountFieldVoxels(&level.grid);
  m_Own = { 3 * own.first, 3 * own.count };
  m_Member = member;
}

void
ForceSum::Add(FieldReducer & reducer, const Memory & forces, double weight, bool isFirst, Memory & sum)
{
  Reserve(m_Queue, m_Numbers, sizeof(float) * kernels::ForceNumbers);
  reducer.ComputeLargestMagnitude(forces, m_Own.first, m_Own.count, *m_Numbers, kernels::ForceLargest);
  if (m_Member != nullptr)
  {
    m_Member->FindLargestOnDevice(m_Queue, *m_Numbers, kernels::ForceLargest);
  }
  const kernels::Strips strips = CutIntoStrips(m_Own.count);
  Memory &              parts = reducer.GetPartials(strips.number);
  ForEachItem<kernels::SumSquaredForcesKernel>(
    m_Queue, strips.number, strips, Input<float>(forces, m_Own.first), Input<float>(*m_Numbers), Output<float>(parts));
  reducer.Sum(parts, 0, strips.number, *m_Numbers, kernels::ForceSquares);
  if (m_Member != nullptr)
  {
    m_Member->SumOnDevice(m_Queue, *m_Numbers, kernels::ForceSquares);
  }
  ForEachItem<kernels::ComputeForceFactorKernel>(m_Queue, 1, static_cast<float>(weight), Output<float>(*m_Numbers));
  ForEachItem<kernels::AddForceToSumKernel>(
    m_Queue, m_Elements, static_cast<int>(isFirst), Input<float>(*m_Numbers), Input<float>(forces), Output<float>(sum));
}

} // namespace gpureg
