// SPDX-License-Identifier: Apache-2.0
#include "engine/field/JacobianMeasure.h"

#include "engine/field/MeasureScratch.h"
#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpureg
{

namespace
{
// A determinant that is less counts as this one in the deviation of the logarithms.
constexpr float LeastDeterminant = 1e-3F;

constexpr std::size_t BytesOfVoxel = kernels::JacobianNumbers * sizeof(float);
} // namespace

VolumeChanges
JacobianMeasure::Measure(const kernels::FieldGrid & grid,
                         const Memory &             field,
                         FieldReducer &             reducer,
                         MemoryPointer &            scratch)
{
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid);
  Reserve(m_Queue, scratch, CountScratchBytes(voxels));
  Reserve(m_Queue, m_Numbers, BytesOfVoxel);
  const auto atOnce = static_cast<std::int64_t>(scratch->GetSize() / BytesOfVoxel);
  double     logarithms = 0;
  double     squaresOfLogarithms = 0;
  double     folded = 0;
  float      mostNegative = -std::numeric_limits<float>::infinity();
  for (std::int64_t first = 0; first < voxels; first += atOnce)
  {
    const Numbers numbers = this->Describe(grid, field, first, std::min(atOnce, voxels - first), reducer, *scratch);
    logarithms += numbers[kernels::JacobianLogarithm];
    squaresOfLogarithms += numbers[kernels::JacobianLogarithmSquare];
    folded += numbers[kernels::JacobianFolded];
    mostNegative = std::max(mostNegative, numbers[kernels::JacobianNegative]);
  }
  const double  mean = logarithms / static_cast<double>(voxels);
  const double  squares = squaresOfLogarithms / static_cast<double>(voxels);
  VolumeChanges changes;
  changes.smallestDeterminant = -mostNegative;
  changes.foldedVoxels = std::llround(folded);
  changes.logDeterminantDeviation = std::sqrt(std::max(0.0, squares - mean * mean));
  return changes;
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
