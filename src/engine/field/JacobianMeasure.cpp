// SPDX-License-Identifier: Apache-2.0
#include "engine/field/JacobianMeasure.h"

#include "engine/runtime/ForEachItem.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
// A determinant that is less counts as this one in the deviation of the logarithms.
constexpr float LeastDeterminant = 1e-3F;
} // namespace

VolumeChanges
JacobianMeasure::Measure(const kernels::FieldGrid & grid,
                         const Memory &             field,
                         FieldReducer &             reducer,
                         MemoryPointer &            scratch)
{
  const std::int64_t voxels = kernels::CountFieldVoxels(&grid);
  Reserve(m_Queue, scratch, kernels::JacobianNumbers * sizeof(float) * static_cast<std::size_t>(voxels));
  ForEachItem<kernels::DescribeJacobianKernel>(
    m_Queue, voxels, grid, LeastDeterminant, voxels, Input<float>(field), Output<float>(*scratch));
  Reserve(m_Queue, m_Numbers, kernels::JacobianNumbers * sizeof(float));
  for (int n = 0; n < kernels::JacobianNumbers; ++n)
  {
    if (n == kernels::JacobianNegative)
    {
      reducer.FindLargest(*scratch, n * voxels, voxels, *m_Numbers, n);
    }
    else
    {
      reducer.Sum(*scratch, n * voxels, voxels, *m_Numbers, n);
    }
  }
  float numbers[kernels::JacobianNumbers];
  m_Queue.Download(numbers, *m_Numbers, sizeof(numbers));
  const double  mean = numbers[kernels::JacobianLogarithm] / static_cast<double>(voxels);
  const double  squares = numbers[kernels::JacobianLogarithmSquare] / static_cast<double>(voxels);
  VolumeChanges changes;
  changes.smallestDeterminant = -numbers[kernels::JacobianNegative];
  changes.foldedVoxels = std::llround(numbers[kernels::JacobianFolded]);
  changes.logDeterminantDeviation = std::sqrt(std::max(0.0, squares - mean * mean));
  return changes;
}

} // namespace gpureg
