// SPDX-License-Identifier: Apache-2.0
#include "MovingVolumes.h"

#include "IntegerValues.h"
#include "MovingImagePasses.h"
#include "RecursiveFilter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
bool
IsPrecise(const MovingImage & image)
{
  return image.precision == Precision::Double;
}

/** Values in float, scaled, whatever precision the samples have. */
Filler
MakeScaledFiller(const MovingImage & image)
{
  if (!IsPrecise(image))
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

/** Each voxel's bin with those of its next ones along x, y and z, a byte each, x first; an edge's repeated beyond it. */
Filler
MakeBinCellFiller(const MovingImage & image)
{
  return [&image](std::int64_t first, std::int64_t count, void * out) {
    const std::int64_t       row = image.size[0];
    const std::int64_t       slice = row * image.size[1];
    const std::int64_t       end = std::min(CountOf(image.size), first + count + slice + row + 1);
    std::vector<kernels::u8> bins(static_cast<std::size_t>(end - first));
    image.bins(first, end - first, bins.data());
    auto * const cells = static_cast<kernels::u64 *>(out);
    for (std::int64_t i = 0; i < count; ++i)
    {
      const std::int64_t voxel = first + i;
      const std::int64_t steps[3] = { voxel % row + 1 < row ? 1 : 0,
                                      voxel / row % image.size[1] + 1 < image.size[1] ? row : 0,
                                      voxel / slice + 1 < image.size[2] ? slice : 0 };
      kernels::u64 cell = 0;
      for (int corner = 0; corner < 8; ++corner)
      {
        const std::int64_t next =
          i + (corner & 1 ? steps[0] : 0) + (corner & 2 ? steps[1] : 0) + (corner & 4 ? steps[2] : 0);
        cell |= kernels::u64{ bins[static_cast<std::size_t>(next)] } << (8 * corner);
      }
      cells[i] = cell;
    }
  };
}

/** A gradient that was made on the host and, where they are read, the values: the second pass reads both side by side with
 *  eight 16-byte loads. */
Filler
MakePackedFiller(const MovingImage & image)
{
  return [&image](std::int64_t first, std::int64_t count, void * out) {
    auto *             voxels = static_cast<kernels::float4 *>(out);
    std::vector<float> gradient(3 * static_cast<std::size_t>(count));
    std::vector<float> values(static_cast<std::size_t>(count));
    image.gradient(first, count, gradient.data());
    if (!IsPrecise(image))
    {
      image.values(first, count, values.data());
    }
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      voxels[i] = { gradient[3 * i], gradient[3 * i + 1], gradient[3 * i + 2], values[i] };
    }
  };
}
} // namespace

bool
HasGradient(const MovingImage & image)
{
  return image.gradient || image.gaussianGradient;
}

MovingVolumes::MovingVolumes(Queue & queue)
  : m_Queue(queue)
  , m_Passes(queue.CreateMovingImagePasses())
  , m_Recursive(std::make_unique<RecursiveFilter>(queue))
{}

MovingVolumes::~MovingVolumes() = default;

void
MovingVolumes::Fill(const MovingImage & image, bool deviceReadsQuads, SampleArrays & arrays)
{
  const std::int64_t count = CountOf(image.size);
  FillExactly(
    m_Queue, arrays.movingBins, sizeof(kernels::u64), count, image.bins ? MakeBinCellFiller(image) : Filler());
  if (image.bins)
  {
    FillExactly(m_Queue, arrays.mask, 1, CountOf(image.maskSize), image.mask);
    arrays.moving.reset();
    arrays.quads.reset();
    arrays.coefficients.reset();
    arrays.gradient.reset();
    return;
  }
  // Nearest-voxel interpolation reads the values themselves; linear interpolation quads, where the device
  // wants them; a spline only its coefficients, but for central differences.
  const bool interpolates = image.splineOrder == 1 || !HasGradient(image);
  const bool readsQuads = interpolates && !IsPrecise(image) && deviceReadsQuads;
  const bool readsValues = (interpolates && !readsQuads) || image.splineOrder == 0;
  const auto kept = [&image](const Filler & filler) {
    return IsPrecise(image) && filler ? MakeIntegerFiller(filler, FindValueExponent(image.scale)) : filler;
  };
  FillExactly(m_Queue, arrays.moving, BytesOf(image.precision), count, readsValues ? kept(image.values) : Filler());
  FillExactly(m_Queue, arrays.coefficients, BytesOf(image.precision), count, kept(image.coefficients));
  FillExactly(m_Queue, arrays.mask, 1, CountOf(image.maskSize), image.mask);

  // What is made of the values on the device needs them there only now.
  MemoryPointer own;
  const bool    hasScaled = readsValues && !IsPrecise(image);
  if (!hasScaled && (readsQuads || image.gaussianGradient))
  {
    FillExactly(m_Queue, own, sizeof(float), count, MakeScaledFiller(image));
  }
  const MemoryPointer & values = hasScaled ? arrays.moving : own;
  ReserveExactly(m_Queue, arrays.quads, readsQuads ? sizeof(kernels::float4) * static_cast<std::size_t>(count) : 0);
  if (readsQuads)
  {
    m_Passes->MakeQuads(kernels::MakeVolumeShape(image.size[0], image.size[1], image.size[2]), *values, *arrays.quads);
  }
  this->FillGradient(image, values, arrays.gradient);
}

void
MovingVolumes::FillGradient(const MovingImage & image, const MemoryPointer & values, MemoryPointer & packed)
{
  const std::int64_t count = CountOf(image.size);
  const double       lastUnit = std::exchange(m_GradientUnit, 0.0);
  if (!image.gaussianGradient)
  {
    FillExactly(m_Queue, packed, sizeof(kernels::float4), count, image.gradient ? MakePackedFiller(image) : Filler());
    return;
  }
  const std::size_t bytes = sizeof(kernels::float4) * static_cast<std::size_t>(count);
  const bool        keepsLast = image.gaussianGradient->keepsLast && lastUnit > 0.0 && SizeOf(packed) == bytes;
  ReserveExactly(m_Queue, packed, bytes);
  m_Passes->ReplaceValues(count,
                          IsPrecise(image) ? nullptr : values.get(),
                          keepsLast ? static_cast<float>(lastUnit / image.unit) : 0.0f,
                          *packed);
  if (!keepsLast)
  {
    this->AddGradient(image, *values, *packed);
  }
  m_GradientUnit = image.unit;
}

void
MovingVolumes::AddGradient(const MovingImage & image, const Memory & values, Memory & packed)
{
  const GaussianGradient & gradient = *image.gaussianGradient;
  const std::int64_t       count = CountOf(image.size);
  const std::size_t        bytes = sizeof(float) * static_cast<std::size_t>(count);
  const MemoryPointer      derivative = m_Queue.Allocate(bytes);
  for (int axis = 0; axis < gradient.dimension; ++axis)
  {
    m_Queue.Copy(*derivative, values, bytes);
    // ITK's order, whose rounding this is: the derivative, then along the other axes.
    const auto apply = [&](int along, const RecursiveGaussian & weights) {
      m_Recursive->ApplyGaussian(*derivative, image.size, 1, Precision::Single, along, weights);
    };
    apply(axis, gradient.derivative[static_cast<std::size_t>(axis)]);
    for (int other = 0; other < gradient.dimension; ++other)
    {
      if (other != axis)
      {
        apply(other, gradient.smoothing[static_cast<std::size_t>(other)]);
      }
    }
    std::array<float, 3> column{};
    for (std::size_t r = 0; r < 3; ++r)
    {
      column[r] = static_cast<float>(gradient.toPhysical[3 * r + static_cast<std::size_t>(axis)]);
    }
    m_Passes->AddDerivatives(count, column, *derivative, packed);
  }
  m_Recursive->Release();
}

} // namespace gpureg
