// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/GaussianDerivatives.h"

#include "gpureg/image/DeviceImage.h"

#include "engine/filter/RecursiveFilter.h"

#include <cstddef>
#include <cstdint>

namespace gpureg
{

GaussianDerivatives::GaussianDerivatives(Queue & queue, ImageSampler & sampler)
  : m_Queue(queue)
  , m_Sampler(sampler)
  , m_Recursive(std::make_unique<RecursiveFilter>(queue))
{}

GaussianDerivatives::~GaussianDerivatives() = default;

void
GaussianDerivatives::ForEachAxis(const GaussianGradient & gradient,
                                 const Size &             size,
                                 const DerivedValues &    values,
                                 const Adding &           add)
{
  const MemoryPointer derivative = m_Queue.Allocate(sizeof(float) * static_cast<std::size_t>(CountOf(size)));
  for (int axis = 0; axis < gradient.dimension; ++axis)
  {
    // Follows ITK's order, and so its rounding: first the derivative, then the smoothing along the other axes.
    this->FillDerivative(gradient.derivative[static_cast<std::size_t>(axis)], size, axis, values, *derivative);
    for (int other = 0; other < gradient.dimension; ++other)
    {
      if (other != axis)
      {
        const RecursiveGaussian & weights = gradient.smoothing[static_cast<std::size_t>(other)];
        m_Recursive->ApplyGaussian(*derivative, size, 1, Precision::Single, other, weights);
      }
    }
    kernels::GradientColumn column{};
    for (std::size_t r = 0; r < 3; ++r)
    {
      column.entries[r] = static_cast<float>(gradient.toPhysical[3 * r + static_cast<std::size_t>(axis)]);
    }
    add(column, *derivative);
  }
  m_Recursive->Release();
}

void
GaussianDerivatives::FillDerivative(
  const RecursiveGaussian & weights, const Size & size, int axis, const DerivedValues & values, Memory & derivative)
{
  const std::int64_t count = CountOf(size);
  if (values.doubles == nullptr)
  {
    m_Queue.Copy(derivative, *values.scaled, sizeof(float) * static_cast<std::size_t>(count));
    m_Recursive->ApplyGaussian(derivative, size, 1, Precision::Single, axis, weights);
    return;
  }
  const std::size_t   bytes = sizeof(double) * static_cast<std::size_t>(count);
  const MemoryPointer doubles = m_Queue.Allocate(bytes);
  m_Queue.Copy(*doubles, *values.doubles->GetMemory(), bytes);
  m_Recursive->ApplyGaussian(*doubles, size, 1, Precision::Double, axis, weights);
  m_Sampler.RoundToFloat(count, *doubles, values.unit, derivative);
  // The caller may load the image again afterwards.
  m_Queue.Finish();
}

} // namespace gpureg
