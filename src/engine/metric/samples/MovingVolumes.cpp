// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/MovingVolumes.h"

#include "gpureg/image/DeviceImage.h"

#include "engine/metric/samples/IntegerValues.h"
#include "engine/image/WideValues.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
bool
IsFixedPoint(const MovingImage & image)
{
  return image.precision == Precision::Double;
}

/** Returns a filler of values or coefficients in the precision in which they are stored. */
Filler
MakeStoredFiller(const MovingImage & image, const Filler & filler)
{
  return IsFixedPoint(image) && filler ? MakeIntegerFiller(filler, ComputeValueExponent(image.scale)) : filler;
}

/** Returns a filler of scaled floats, whatever the samples' precision is. */
Filler
MakeScaledFiller(const MovingImage & image)
{
  if (!IsFixedPoint(image))
  {
    return image.values;
  }
  return [&image](std::int64_t first, std::int64_t count, void * out) {
    std::vector<double> values(static_cast<std::size_t>(count));
    image.values(first, count, values.data());
    std::transform(values.begin(), values.end(), static_cast<float *>(out), [&image](double value) {
      return static_cast<float>(value / image.unit);
    });
  };
}

/** Returns a filler of a gradient that was computed on the host, with room for the values: the second pass reads both side by side with
 *  eight 16-byte loads. */
Filler
MakePackedFiller(const MovingImage & image)
{
  return [&image](std::int64_t first, std::int64_t count, void * out) {
    auto *             voxels = static_cast<kernels::float4 *>(out);
    std::vector<float> gradient(3 * static_cast<std::size_t>(count));
    image.gradient(first, count, gradient.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    {
      voxels[i] = { gradient[3 * i], gradient[3 * i + 1], gradient[3 * i + 2], 0.0f };
    }
  };
}

/** Returns true if the first pass of the gradient reads doubles, as ITK's does. With few samples, rounding the values to float would be
 *  visible. */
bool
DerivesDoubles(const MovingImage & image)
{
  return IsFixedPoint(image) && image.image != nullptr && image.image->GetPrecision() == Precision::Double;
}

/** Returns where the values of an image on the device lie, which are its voxels, and how they are scaled. */
ImageSamples
MakePlaces(const MovingImage & image)
{
  ImageSamples places;
  places.sampleSize = places.imageSize = image.size;
  places.minimum = image.scale.minimum;
  places.unit = image.unit;
  places.exponent = ComputeValueExponent(image.scale);
  places.summary = image.summary;
  places.isOfQueue = image.isOfQueue;
  return places;
}

kernels::VolumeShape
ShapeOf(const MovingImage & image)
{
  return kernels::MakeVolumeShape(image.size[0], image.size[1], image.size[2]);
}

/** Replaces the values of packed voxels, by 0 if values is null, and multiplies their gradients by a factor. */
void
ReplaceValues(Queue & queue, std::int64_t count, const Memory * values, float gradientFactor, Memory & packed)
{
  ForEachItem<kernels::ReplaceValueKernel>(
    queue, count, Input<float>(values), values != nullptr, gradientFactor, Output<kernels::float4>(packed));
}
} // namespace

bool
HasGradient(const MovingImage & image)
{
  return image.gradient || image.gaussianGradient;
}

MovingVolumes::MovingVolumes(Queue & queue, ImageSampler & sampler, GaussianDerivatives & derivatives)
  : m_Queue(queue)
  , m_Sampler(sampler)
  , m_Derivatives(derivatives)
{}

void
MovingVolumes::Fill(const MovingImage & image, bool deviceReadsQuads, SampleArrays & arrays)
{
  const std::int64_t count = CountOf(image.size);
  if (image.maskImage != nullptr)
  {
    m_Sampler.FillMask(*image.maskImage, image.maskSize, image.isOfQueue, arrays.mask);
  }
  else if (image.mask || !image.isOfQueue)
  {
    // Without a mask, an image of the queue's own keeps the array: a pair's images exchange their roles, and the other one may have a mask.
    UploadExactly(m_Queue, arrays.mask, 1, CountOf(image.maskSize), image.mask);
  }
  this->FillBins(image, arrays.movingBins);
  if (arrays.movingBins)
  {
    arrays.moving.reset();
    arrays.quads.reset();
    arrays.coefficients.reset();
    arrays.gradient.reset();
    return;
  }
  // Nearest-voxel interpolation reads the values; linear interpolation reads quads where the device prefers them; a spline reads only its
  // coefficients, except for central differences.
  const bool interpolates = image.splineOrder == 1 || !HasGradient(image);
  const bool readsQuads = interpolates && !IsFixedPoint(image) && deviceReadsQuads;
  const bool readsValues = (interpolates && !readsQuads) || image.splineOrder == 0;
  if (readsValues)
  {
    this->FillValues(image, arrays.moving);
  }
  else
  {
    arrays.moving.reset();
  }
  UploadExactly(
    m_Queue, arrays.coefficients, BytesOf(image.precision), count, MakeStoredFiller(image, image.coefficients));

  // The device needs the values only until quads and gradients are computed.
  MemoryPointer own;
  // The displacements are computed again for each evaluation, so their array is free until then.
  const bool borrows = m_Queue.KeepsLargerArrays() &&
                       SizeOf(arrays.displacement.GetMemory()) >= sizeof(float) * static_cast<std::size_t>(count);
  MemoryPointer & between = borrows ? arrays.displacement.Borrow() : own;
  const bool      hasScaled = readsValues && !IsFixedPoint(image);
  const bool      derivesScaled = image.gaussianGradient && !DerivesDoubles(image);
  const bool      readsScaled = derivesScaled || (image.gradient && !IsFixedPoint(image));
  const bool      makesQuads = readsQuads && (readsScaled || image.image == nullptr);
  if (!hasScaled && (makesQuads || readsScaled))
  {
    this->FillScaled(image, between);
  }
  const MemoryPointer & values = hasScaled ? arrays.moving : between;
  ReserveExactly(m_Queue, arrays.quads, readsQuads ? sizeof(kernels::float4) * static_cast<std::size_t>(count) : 0);
  if (readsQuads && !makesQuads)
  {
    m_Sampler.FillQuads(*image.image, MakePlaces(image), arrays.quads);
  }
  if (makesQuads)
  {
    ForEachItem<kernels::MakeQuadKernel>(
      m_Queue, count, ShapeOf(image), Input<float>(*values), Output<kernels::float4>(*arrays.quads));
  }
  this->FillGradient(image, values, arrays.gradient);
}

bool
MovingVolumes::Plan(const MovingImage & image, bool deviceReadsQuads, const std::string & name, MemoryLedger & ledger)
{
  const auto count = static_cast<std::size_t>(CountOf(image.size));
  if (image.maskImage != nullptr || !image.isOfQueue)
  {
    ledger.ReserveExactly(name + "moving mask",
                          image.maskImage != nullptr ? static_cast<std::size_t>(CountOf(image.maskSize)) : 0);
  }
  ledger.ReserveExactly(name + "moving bins", HasBins(image) ? sizeof(kernels::u64) * count : 0);
  if (HasBins(image))
  {
    ledger.Touch(name + "bins", count);
    ledger.Free(name + "moving values");
    ledger.Free(name + "quads");
    return false;
  }
  const bool readsQuads = !IsFixedPoint(image) && deviceReadsQuads;
  ledger.ReserveExactly(name + "moving values",
                        readsQuads ? 0 : (IsFixedPoint(image) ? sizeof(kernels::i64) : sizeof(float)) * count);
  const std::size_t widened = image.image != nullptr && IsNarrow(*image.image) ? CountWideBytes(*image.image) : 0;
  ledger.Touch("scratch: widened image", widened);
  ledger.ReserveExactly(name + "quads", readsQuads ? sizeof(kernels::float4) * count : 0);
  return readsQuads;
}

void
MovingVolumes::FillBins(const MovingImage & image, MemoryPointer & cells)
{
  const std::int64_t count = CountOf(image.size);
  ReserveExactly(m_Queue, cells, HasBins(image) ? sizeof(kernels::u64) * static_cast<std::size_t>(count) : 0);
  if (!cells)
  {
    return;
  }
  MemoryPointer bins;
  if (image.binEdges)
  {
    this->Keep(image, kernels::StoredAsByte, bins);
  }
  else
  {
    UploadExactly(m_Queue, bins, 1, count, image.bins);
  }
  ForEachItem<kernels::MakeBinCellKernel>(
    m_Queue, count, ShapeOf(image), Input<kernels::u8>(*bins), Output<kernels::u64>(*cells));
}

void
MovingVolumes::FillValues(const MovingImage & image, MemoryPointer & values)
{
  if (!IsFixedPoint(image))
  {
    this->FillScaled(image, values);
  }
  else if (image.image != nullptr)
  {
    this->Keep(image, kernels::StoredAsInteger, values);
  }
  else
  {
    UploadExactly(m_Queue, values, sizeof(kernels::i64), CountOf(image.size), MakeStoredFiller(image, image.values));
  }
}

void
MovingVolumes::FillScaled(const MovingImage & image, MemoryPointer & values)
{
  if (image.image != nullptr)
  {
    this->Keep(image, kernels::StoredAsScaled, values);
  }
  else
  {
    UploadExactly(m_Queue, values, sizeof(float), CountOf(image.size), MakeScaledFiller(image));
  }
}

void
MovingVolumes::Keep(const MovingImage & image, kernels::StoredAs form, MemoryPointer & values)
{
  m_Sampler.Fill(*image.image, MakePlaces(image), image.binEdges ? &*image.binEdges : nullptr, form, nullptr, values);
}

void
MovingVolumes::FillGradient(const MovingImage & image, const MemoryPointer & values, MemoryPointer & packed)
{
  const std::int64_t count = CountOf(image.size);
  const double       lastUnit = std::exchange(m_GradientUnit, 0.0);
  if (!image.gaussianGradient)
  {
    UploadExactly(m_Queue, packed, sizeof(kernels::float4), count, image.gradient ? MakePackedFiller(image) : Filler());
    if (packed && !IsFixedPoint(image))
    {
      ReplaceValues(m_Queue, count, values.get(), 1.0f, *packed);
    }
    return;
  }
  const std::size_t bytes = sizeof(kernels::float4) * static_cast<std::size_t>(count);
  const bool        keepsLast = image.gaussianGradient->keepsLast && lastUnit > 0.0 && SizeOf(packed) == bytes;
  ReserveExactly(m_Queue, packed, bytes);
  ReplaceValues(m_Queue,
                count,
                IsFixedPoint(image) ? nullptr : values.get(),
                keepsLast ? static_cast<float>(lastUnit / image.unit) : 0.0f,
                *packed);
  if (!keepsLast)
  {
    this->AddGradient(image, values, *packed);
  }
  m_GradientUnit = image.unit;
}

void
MovingVolumes::AddGradient(const MovingImage & image, const MemoryPointer & values, Memory & packed)
{
  DerivedValues derived;
  derived.scaled = values.get();
  derived.doubles = DerivesDoubles(image) ? image.image : nullptr;
  derived.unit = image.unit;
  const std::int64_t count = CountOf(image.size);
  m_Derivatives.ForEachAxis(*image.gaussianGradient,
                            image.size,
                            derived,
                            [&](const kernels::GradientColumn & column, const Memory & derivative) {
                              ForEachItem<kernels::AddToPackedKernel>(
                                m_Queue, count, column, Input<float>(derivative), Output<kernels::float4>(packed));
                            });
}

} // namespace gpureg
