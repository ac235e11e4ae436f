// SPDX-License-Identifier: Apache-2.0
#include "engine/field/JacobianMeasure.h"

#include "engine/field/MeasureScratch.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
// A determinant that is less counts as this one in the deviation of the logarithms.
constexpr float LeastDeterminant = 1e-3F;

constexpr std::size_t BytesOfVoxel = kernels::JacobianNumbers * sizeof(float);
} // namespace

VolumeChanges
JacobianSums::Summarize() const
{
  const double  mean = logarithms / voxels;
  const double  squares = squaresOfLogarithms / voxels;
  VolumeChanges changes;
  changes.smallestDeterminant = -mostNegative;
  changes.foldedVoxels = std::llround(folded);
  changes.logDeterminantDeviation = std::sqrt(std::max(0.0, squares - mean * mean));
  return changes;
}

JacobianSums
JacobianMeasure::Add(const kernels::FieldGrid & grid,
                     const Range &              range,
                     const Memory &             field,
                     FieldReducer &             reducer,
                     MemoryPointer &            scratch)
{
  Reserve(m_Queue, scratch, CountScratchBytes(kernels::CountFieldVoxels(&grid)));
  Reserve(m_Queue, m_Numbers, BytesOfVoxel);
  const std::int64_t chunk = CountMeasuredAtOnce(*scratch, BytesOfVoxel);
  JacobianSums       sums;
  sums.voxels = static_cast<double>(range.count);
  for (std::int64_t first = range.first; first < range.GetEnd(); first += chunk)
  {
    const std::int64_t voxels = std::min(chunk, range.GetEnd() - first);
    const Numbers      numbers = this->Describe(grid, field, first, voxels, reducer, *scratch);
    sums.logarithms += numbers[kernels::JacobianLogarithm];
    sums.squaresOfLogarithms += numbers[kernels::JacobianLogarithmSquare];
    sums.folded += numbers[kernels::JacobianFolded];
    sums.mostNegative = std::max<double>(sums.mostNegative, numbers[kernels::JacobianNegative]);
  }
  return sums;
}

JacobianMeasure::Numbers
JacobianMeasure::Describe(const kernels::FieldGrid & grid,
                          const Memory &             field,
                          std::int64_t               first,
                          std::int64_t               voxels,
                          FieldReducer &             reducer,
                          Memory &                   scratch)
{
  ForEachItem<kernels::DescribeJacobianKernel>(
    m_Queue, voxels, grid, LeastDeterminant, first, voxels, Input<float>(field), Output<float>(scratch));
  for (int n = 0; n < kernels::JacobianNumbers; ++n)
  {
    if (n == kernels::JacobianNegative)
    {
      reducer.ComputeLargest(scratch, n * voxels, voxels, *m_Numbers, n);
    }
    else
    {
      reducer.Sum(scratch, n * voxels, voxels, *m_Numbers, n);
    }
  }
  Numbers numbers;
  m_Queue.Download(numbers.data(), *m_Numbers, sizeof(numbers));
  return numbers;
}

std::size_t
JacobianMeasure::CountScratchBytes(std::int64_t voxels)
{
  return CountMeasureBytes(voxels, BytesOfVoxel);
}

} // namespace gpureg
