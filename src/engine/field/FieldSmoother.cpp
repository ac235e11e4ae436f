// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldSmoother.h"

#include "engine/field/FieldKernels.h"
#include "engine/field/FieldGaussian.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <vector>

namespace gpureg
{

void
FieldSmoother::Set(double sigma, const kernels::FieldGrid & grid, FieldBorder border)
{
  m_Grid = grid;
  m_IsZeroAtBorder = border == FieldBorder::Zero && sigma > 0;
  m_Kept = m_IsZeroAtBorder ? FindKeptPart(sigma * sigma) : 0.0F;
  std::vector<float> weights;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const bool               smooths = sigma > 0 && static_cast<int>(axis) < grid.dimension;
    const std::vector<float> along =
      smooths ? MakeFieldGaussian(sigma * sigma, grid.size[axis]) : std::vector<float>{ 1 };
    m_First[axis] = static_cast<int>(weights.size());
    m_Radius[axis] = static_cast<int>(along.size()) - 1;
    weights.insert(weights.end(), along.begin(), along.end());
  }
  Reserve(m_Queue, m_Weights, weights.size() * sizeof(float));
  UploadArray(m_Queue, *m_Weights, weights);
}

void
FieldSmoother::Smooth(const Memory & field, Memory & first, Memory & second, Memory & smoothed)
{
  const std::int64_t count = 3 * kernels::CountFieldVoxels(&m_Grid);
  const Memory *     from[3] = { &field, &first, &second };
  Memory *           to[3] = { &first, &second, &smoothed };
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    kernels::FieldSmoothing a{};
    a.axis = static_cast<int>(axis);
    a.radius = m_Radius[axis];
    a.isLast = axis == 2 && m_IsZeroAtBorder;
    a.kept = a.isLast ? m_Kept : 0.0F;
    ForEachItem<kernels::SmoothFieldAlongKernel>(m_Queue,
                                                 count,
                                                 Precision::Single,
                                                 m_Grid,
                                                 a,
                                                 Input<float>(*m_Weights, m_First[axis]),
                                                 Input<RealNumber>(*from[axis]),
                                                 Input<RealNumber>(field),
                                                 Output<RealNumber>(*to[axis]));
  }
}

} // namespace gpureg
