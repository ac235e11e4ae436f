// SPDX-License-Identifier: Apache-2.0
#include "engine/field/NewtonInverter.h"

#include "engine/runtime/ForEachItem.h"

#include <cstdint>
#include <utility>

namespace gpureg
{

namespace
{
// Each iteration brings good inverses two voxels further into a part of the field where Newton's method did not converge by itself.
constexpr int MostIterations = 32;
} // namespace

NewtonInverter::Errors
NewtonInverter::Improve(const kernels::FieldGrid &  grid,
                        const kernels::NewtonRule & rule,
                        const Memory &              field,
                        Memory &                    inverse,
                        Memory &                    errors,
                        FieldReducer &              reducer)
{
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid);
  ForEachItem<kernels::InvertByNewtonKernel>(m_Queue,
                                             voxels,
                                             Precision::Single,
                                             grid,
                                             rule,
                                             Input<RealNumber>(field),
                                             Output<RealNumber>(inverse),
                                             Output<float>(errors));
  Errors left = this->MeasureErrors(errors, voxels, reducer);
  for (int iteration = 0; iteration < MostIterations && left.largest > rule.error; ++iteration)
  {
    for (const std::int64_t before : { std::int64_t{ 0 }, voxels })
    {
      ForEachItem<kernels::InvertFromNeighboursKernel>(m_Queue,
                                                       voxels,
                                                       Precision::Single,
                                                       grid,
                                                       rule,
                                                       before,
                                                       voxels - before,
                                                       Input<RealNumber>(field),
                                                       Output<RealNumber>(inverse),
                                                       Output<float>(errors));
    }
    const Errors before = std::exchange(left, this->MeasureErrors(errors, voxels, reducer));
    if (!(left.sum < before.sum))
    {
      break;
    }
  }
  return left;
}

NewtonInverter::Errors
NewtonInverter::MeasureErrors(const Memory & errors, std::int64_t voxels, FieldReducer & reducer)
{
  Reserve(m_Queue, m_Numbers, sizeof(Errors));
  reducer.ComputeLargestAndSum(errors, voxels, *m_Numbers);
  Errors measured{};
  m_Queue.Download(&measured, *m_Numbers, sizeof(measured));
  return measured;
}

} // namespace gpureg
