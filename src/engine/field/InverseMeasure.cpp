// SPDX-License-Identifier: Apache-2.0
#include "engine/field/InverseMeasure.h"

#include "engine/field/MeasureScratch.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
// Voxels: Newton's method leaves ten times less where it converges; an inverse that is worse than the tolerance is none.
constexpr float ConvergedError = 1e-3F;
constexpr float Tolerance = 0.1F;

constexpr std::size_t BytesOfVoxel = kernels::InverseNumbers * sizeof(float);
} // namespace

InverseErrors
InverseMeasure::Measure(const kernels::FieldGrid & grid,
                        const Memory &             field,
                        const Memory &             inverse,
                        FieldReducer &             reducer,
                        MemoryPointer &            scratch)
{
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid);
  Reserve(m_Queue, scratch, CountMeasureBytes(voxels, BytesOfVoxel));
  Reserve(m_Queue, m_Numbers, sizeof(Numbers));
  const auto    room = static_cast<std::int64_t>(scratch->GetSize() / BytesOfVoxel);
  double        sum = 0;
  double        off = 0;
  double        unmapped = 0;
  InverseErrors errors;
  for (std::int64_t first = 0; first < voxels; first += room)
  {
    const Numbers numbers =
      this->Describe(grid, field, inverse, first, std::min(room, voxels - first), reducer, *scratch);
    sum += numbers[kernels::InverseError];
    off += numbers[kernels::InverseIsOff];
    unmapped += numbers[kernels::InverseUnmapped];
    errors.largest = std::max(errors.largest, static_cast<double>(numbers[kernels::InverseNumbers]));
  }
  errors.offVoxels = std::llround(off);
  errors.unmappedVoxels = std::llround(unmapped);
  errors.mean = sum / static_cast<double>(std::max(std::int64_t{ 1 }, voxels - errors.unmappedVoxels));
  return errors;
}

InverseMeasure::Numbers
InverseMeasure::Describe(const kernels::FieldGrid & grid,
                         const Memory &             field,
                         const Memory &             inverse,
                         std::int64_t               first,
                         std::int64_t               voxels,
                         FieldReducer &             reducer,
                         Memory &                   scratch)
{
  ForEachItem<kernels::DescribeInverseKernel>(m_Queue,
                                              voxels,
                                              Precision::Single,
                                              grid,
                                              ConvergedError,
                                              Tolerance,
                                              first,
                                              voxels,
                                              Input<RealNumber>(field),
                                              Input<RealNumber>(inverse),
                                              Output<float>(scratch));
  for (int n = 0; n < kernels::InverseNumbers; ++n)
  {
    reducer.Sum(scratch, n * voxels, voxels, *m_Numbers, n);
  }
  reducer.ComputeLargest(scratch, kernels::InverseError * voxels, voxels, *m_Numbers, kernels::InverseNumbers);
  Numbers numbers;
  m_Queue.Download(numbers.data(), *m_Numbers, sizeof(numbers));
  return numbers;
}

} // namespace gpureg
