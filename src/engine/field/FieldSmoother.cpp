// SPDX-License-Identifier: Apache-2.0
#include "engine/field/FieldSmoother.h"

#include "engine/field/CountBlocks.h"
#include "engine/field/FieldGaussian.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace gpureg
{

void
FieldSmoother::Set(double sigma, const kernels::FieldGrid & grid, FieldBorder border, GaussianKind kind)
{
  const bool hasZeroBorder = sigma > 0 && border == FieldBorder::Zero;
  if (hasZeroBorder && kind == GaussianKind::Recursive)
  {
    throw std::logic_error("recursive Gaussians smooth the border as well");
  }
  if (grid.firstPlane != 0)
  {
    throw std::logic_error("blocks begin with a field's first plane");
  }
  m_Grid = grid;
  m_MeasuredPlanes = { 0, grid.size[2] };
  m_Kind = kind;
  m_Sigma = sigma;
  m_Smoothing.clearsBorder = hasZeroBorder;
  m_Smoothing.kept = hasZeroBorder ? ComputeUnsmoothedShare(sigma * sigma) : 0.0F;
  std::vector<float> weights;
  for (std::size_t axis = 0; axis < 3; ++axis)
  {
    const bool smooths = sigma > 0 && kind == GaussianKind::Discrete && static_cast<int>(axis) < grid.dimension;
    const std::vector<float> along =
      smooths ? MakeFieldGaussian(sigma * sigma, grid.size[axis]) : std::vector<float>{ 1 };
    m_Smoothing.radius[axis] = static_cast<int>(along.size()) - 1;
    weights.insert(weights.end(), along.begin(), along.end());
    weights.resize(weights.size() + kernels::WeightZeros);
  }
  Reserve(m_Queue, m_Weights, weights.size() * sizeof(float));
  UploadArray(m_Queue, *m_Weights, weights);
}

void
FieldSmoother::Smooth(const Memory & field, Memory & first, Memory & second, Memory & smoothed)
{
  this->Enqueue(m_Smoothing, field, first, second, smoothed, nullptr);
}

void
FieldSmoother::SmoothAndMeasure(
  const Memory & field, Memory & first, Memory & second, Memory & smoothed, FieldReducer & reducer, Memory & longest)
{
  const std::int64_t      blocks = CountBlocks(m_Queue, m_Grid, 2, kernels::DeviceBlockLength);
  Memory &                parts = reducer.GetPartials(blocks);
  kernels::FieldSmoothing a = m_Smoothing;
  a.measures = 1;
  this->Enqueue(a, field, first, second, smoothed, &parts);
  const Range measured = LocateBlocks(m_Queue, m_Grid, kernels::DeviceBlockLength, m_MeasuredPlanes);
  reducer.ComputeLargest(parts, measured.first, measured.count, longest, 0);
}

void
FieldSmoother::Enqueue(const kernels::FieldSmoothing & a,
                       const Memory &                  field,
                       Memory &                        first,
                       Memory &                        second,
                       Memory &                        smoothed,
                       Memory *                        parts)
{
  if (&first == &field || &second == &first || &second == &smoothed || (&second == &field && a.kept > 0))
  {
    throw std::logic_error("smoothing a field overwrites what it reads");
  }
  const bool isRecursive = m_Kind == GaussianKind::Recursive && m_Sigma > 0;
  const bool smooths = std::any_of(a.radius, a.radius + 3, [](int radius) { return radius > 0; });
  if (isRecursive)
  {
    m_Queue.Copy(first, field, 3 * sizeof(float) * static_cast<std::size_t>(kernels::CountFieldVoxels(&m_Grid)));
    this->Recurse(first);
    if (&first == &smoothed && parts == nullptr)
    {
      return;
    }
  }
  if (smooths)
  {
    const std::int64_t blocks =
      CountBlocks(m_Queue, kernels::MakeGridOfNumbers(&m_Grid), 1, kernels::DeviceBlockLength);
    ForEachItem<kernels::SmoothFieldAlongXKernel>(m_Queue,
                                                  blocks,
                                                  Precision::Single,
                                                  m_Grid,
                                                  a,
                                                  Input<float>(*m_Weights),
                                                  Input<RealNumber>(field),
                                                  Output<RealNumber>(first));
    ForEachItem<kernels::SmoothFieldAlongYKernel>(m_Queue,
                                                  blocks,
                                                  Precision::Single,
                                                  m_Grid,
                                                  a,
                                                  Input<float>(*m_Weights),
                                                  Input<RealNumber>(first),
                                                  Output<RealNumber>(second));
  }
  ForEachItem<kernels::SmoothFieldAlongZKernel>(m_Queue,
                                                CountBlocks(m_Queue, m_Grid, 2, kernels::DeviceBlockLength),
                                                Precision::Single,
                                                m_Grid,
                                                a,
                                                Input<float>(*m_Weights),
                                                Input<RealNumber>(isRecursive ? first : (smooths ? second : field)),
                                                Input<RealNumber>(field),
                                                Output<RealNumber>(smoothed),
                                                Output<float>(parts));
}

std::size_t
FieldSmoother::CountStateBytes(const kernels::FieldGrid & grid) const
{
  std::size_t most = 0;
  for (int axis = 0; axis < grid.dimension; ++axis)
  {
    most = std::max(most, m_Recursion.CountGaussianBytes({ grid.size[0], grid.size[1], grid.size[2] }, 3, axis));
  }
  return most;
}

void
FieldSmoother::Recurse(Memory & field)
{
  const Size              size{ m_Grid.size[0], m_Grid.size[1], m_Grid.size[2] };
  const RecursiveGaussian weights = MakeRecursiveGaussian(m_Sigma);
  for (int axis = 0; axis < m_Grid.dimension; ++axis)
  {
    m_Recursion.ApplyGaussian(field, size, 3, Precision::Single, axis, weights);
  }
}

} // namespace gpureg
