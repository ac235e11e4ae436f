// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldSmoother.h"

#include "engine/field/CountBlocks.h"
#include "engine/field/FieldGaussian.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <stdexcept>
#include <vector>

namespace gpureg
{

void
FieldSmoother::Set(double sigma, const kernels::FieldGrid & grid, FieldBorder border)
{
  const bool hasZeroBorder = sigma > 0 && border == FieldBorder::Zero;
  m_Grid = grid;
  m_Smoothing.clearsBorder = hasZeroBorder;
  m_Smoothing.kept = hasZeroBorder ? FindKeptPart(sigma * sigma) : 0.0F;
  std::vector<float> weights;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const bool               smooths = sigma > 0 && static_cast<int>(axis) < grid.dimension;
    const std::vector<float> along =
      smooths ? MakeFieldGaussian(sigma * sigma, grid.size[axis]) : std::vector<float>{ 1 };
    m_Smoothing.radius[axis] = static_cast<int>(along.size()) - 1;
    weights.insert(weights.end(), along.begin(), along.end());
  }
  Reserve(m_Queue, m_Weights, weights.size() * sizeof(float));
  UploadArray(m_Queue, *m_Weights, weights);
}

void
FieldSmoother::Smooth(const Memory & field, Memory & scratch, Memory & smoothed)
{
  this->Enqueue(m_Smoothing, field, scratch, smoothed, nullptr);
}

void
FieldSmoother::SmoothAndMeasure(
  const Memory & field, Memory & scratch, Memory & smoothed, FieldReducer & reducer, Memory & longest)
{
  const std::int64_t      blocks = CountBlocks(m_Queue, m_Grid, 2);
  Memory &                parts = reducer.GetParts(blocks);
  kernels::FieldSmoothing a = m_Smoothing;
  a.measures = 1;
  this->Enqueue(a, field, scratch, smoothed, &parts);
  reducer.FindLargest(parts, 0, blocks, longest, 0);
}

void
FieldSmoother::Enqueue(
  const kernels::FieldSmoothing & a, const Memory & field, Memory & scratch, Memory & smoothed, Memory * parts)
{
  if (&scratch == &field || &scratch == &smoothed)
  {
    throw std::logic_error("smoothing a field needs an array beside the field and the smoothed one");
  }
  ForEachItem<kernels::SmoothFieldInPlaneKernel>(m_Queue,
                                                 CountBlocks(m_Queue, m_Grid, 1),
                                                 Precision::Single,
                                                 m_Grid,
                                                 a,
                                                 Input<float>(*m_Weights),
                                                 Input<RealNumber>(field),
                                                 Output<RealNumber>(scratch));
  ForEachItem<kernels::SmoothFieldAlongZKernel>(m_Queue,
                                                CountBlocks(m_Queue, m_Grid, 2),
                                                Precision::Single,
                                                m_Grid,
                                                a,
                                                Input<float>(*m_Weights),
                                                Input<RealNumber>(scratch),
                                                Input<RealNumber>(field),
                                                Output<RealNumber>(smoothed),
                                                Output<float>(parts));
}

} // namespace gpureg
