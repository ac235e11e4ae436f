// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/FixedGradients.h"

#include "gpureg/image/DeviceImage.h"
#include "gpureg/core/Error.h"

#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <cstddef>
#include <utility>

namespace gpureg
{

FixedGradients::FixedGradients(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives)
  : m_Queue(queue)
  , m_Sampler(sampler)
  , m_Derivatives(derivatives)
{}

void
FixedGradients::Fill(const FixedSamples & samples, std::int64_t count, MemoryPointer & gradients)
{
  const double lastUnit = std::exchange(m_Unit, 0.0);
  if (!samples.gaussianGradient)
  {
    UploadExactly(m_Queue, gradients, 3 * sizeof(float), count, samples.gradients);
    return;
  }
  const std::size_t bytes = 3 * sizeof(float) * static_cast<std::size_t>(count);
  const double      unit = samples.scale.range;
  const bool        keepsLast = samples.gaussianGradient->keepsLast && lastUnit > 0.0 && SizeOf(gradients) == bytes;
  ReserveExactly(m_Queue, gradients, bytes);
  ForEachItem<kernels::ScaleGradientKernel>(m_Queue,
                                            count,
                                            keepsLast ? static_cast<float>(lastUnit / unit) : 0.0f,
                                            Output<float>(*gradients));
  if (!keepsLast)
  {
    this->Make(samples, gradients);
  }
  m_Unit = unit;
}

void
FixedGradients::Make(const FixedSamples & samples, MemoryPointer & gradients)
{
  if (!samples.sampled || !samples.sampled->isOneGrid)
  {
    throw BadInputError("the fixed image's gradient is to be made on the device, and samples are no voxels of an image "
                        "there");
  }
  const SampledImage & sampled = *samples.sampled;
  DerivedValues        values;
  MemoryPointer        scaled;
  values.unit = samples.scale.range;
  if (sampled.image->GetPrecision() == Precision::Double)
  {
    values.doubles = sampled.image;
  }
  else
  {
    // Only divides by the unit, because subtracting a minimum would lose digits.
    ImageSamples places;
    places.sampleSize = places.imageSize = sampled.size;
    places.unit = values.unit;
    m_Sampler.Fill(*sampled.image, places, nullptr, kernels::StoredAsScaled, nullptr, scaled);
    values.scaled = scaled.get();
  }
  const std::int64_t count = CountOf(sampled.size);
  m_Derivatives.ForEachAxis(*samples.gaussianGradient,
                            sampled.size,
                            values,
                            [&](const kernels::GradientColumn & column, const Memory & derivative) {
                              ForEachItem<kernels::AddToGradientKernel>(
                                m_Queue, count, column, Input<float>(derivative), Output<float>(*gradients));
                            });
}

} // namespace gpureg
