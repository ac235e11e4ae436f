// SPDX-License-Identifier: Apache-2.0
#include "engine/field/InverseMeasure.h"

#include "engine/field/MeasureScratch.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <array>
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
  const auto describe = [&](std::int64_t first, std::int64_t count, Memory & numbers) {
    ForEachItem<kernels::DescribeInverseKernel>(m_Queue,
                                                count,
                                                Precision::Single,
                                                grid,
                                                ConvergedError,
                                                Tolerance,
                                                first,
                                                count,
                                                Input<RealNumber>(field),
                                                Input<RealNumber>(inverse),
                                                Output<float>(numbers));
  };
  return this->AddUp(kernels::CountFieldVoxels(&grid), reducer, scratch, describe);
}

InverseErrors
InverseMeasure::Measure(const kernels::FieldGrid & grid,
                        StartTransform &           transform,
                        const Memory &             inverse,
                        FieldReducer &             reducer,
                        MemoryPointer &            scratch)
{
  const auto describe = [&](std::int64_t first, std::int64_t count, Memory & numbers) {
    transform.DescribeInverse(ConvergedError, Tolerance, first, count, inverse, numbers);
  };
  return this->AddUp(kernels::CountFieldVoxels(&grid), reducer, scratch, describe);
}

template <typename TDescribe>
InverseErrors
InverseMeasure::AddUp(std::int64_t voxels, FieldReducer & reducer, MemoryPointer & scratch, const TDescribe & describe)
{
  std::array<float, kernels::InverseNumbers + 1> numbers{};
  Reserve(m_Queue, scratch, CountMeasureBytes(voxels, BytesOfVoxel));
  Reserve(m_Queue, m_Numbers, sizeof(numbers));
  const std::int64_t chunk = CountMeasuredAtOnce(*scratch, BytesOfVoxel);
  double             sum = 0;
  double             off = 0;
  double             unmapped = 0;
  InverseErrors      errors;
  for (std::int64_t first = 0; first < voxels; first += chunk)
  {
    const std::int64_t count = std::min(chunk, voxels - first);
    describe(first, count, *scratch);
    for (int n = 0; n < kernels::InverseNumbers; ++n)
    {
      reducer.Sum(*scratch, n * count, count, *m_Numbers, n);
    }
    reducer.ComputeLargest(*scratch, kernels::InverseError * count, count, *m_Numbers, kernels::InverseNumbers);
    m_Queue.Download(numbers.data(), *m_Numbers, sizeof(numbers));
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

} // namespace gpureg
