// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/ImageSampler.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/DeviceImage.h"
#include "engine/image/WideValues.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace gpureg
{

static_assert(GPUREG_NO_VALUE == NoFixedValue, "one value for all");

namespace
{
std::size_t
BytesOf(kernels::StoredAs form)
{
  switch (form)
  {
    case kernels::StoredAsBin:
      return sizeof(kernels::u16);
    case kernels::StoredAsByte:
      return sizeof(kernels::u8);
    case kernels::StoredAsInteger:
      return sizeof(kernels::i64);
    default:
      return sizeof(float);
  }
}

kernels::ImageSampling
MakeArguments(const ImageSamples & samples, const BinEdges * bins, kernels::StoredAs form)
{
  const Size &           size = samples.sampleSize;
  kernels::ImageSampling a{};
  for (std::size_t r = 0; r < 3; ++r)
  {
    std::copy_n(samples.toImage.matrix.begin() + static_cast<std::ptrdiff_t>(3 * r), 3, a.toImage + 4 * r);
    a.toImage[4 * r + 3] = samples.toImage.offset[r];
  }
  a.minimum = samples.minimum;
  a.unit = samples.unit;
  a.placeOfMinimum = samples.placeOfMinimum;
  a.unitsPerValue[0] = std::ldexp(1.0, samples.exponent / 2);
  a.unitsPerValue[1] = std::ldexp(1.0, samples.exponent - samples.exponent / 2);
  a.sampleShape = kernels::MakeVolumeShape(size[0], size[1], size[2]);
  a.imageShape = kernels::MakeVolumeShape(samples.imageSize[0], samples.imageSize[1], samples.imageSize[2]);
  a.form = form;
  a.edgeCount = bins != nullptr ? static_cast<int>(bins->edges.size()) : 0;
  a.firstBin = bins != nullptr ? bins->first : 0;
  a.isOneGrid = samples.isOneGrid;
  return a;
}

void
Check(const DeviceImage & image, const ImageSamples & samples)
{
  if (image.GetNumbers() == nullptr || image.GetCount() != CountOf(samples.imageSize))
  {
    throw BadInputError("an image of " + std::to_string(CountOf(samples.imageSize)) +
                        " voxels is to be sampled, and the one that is loaded has " + std::to_string(image.GetCount()));
  }
  if (samples.isOneGrid && samples.sampleSize != samples.imageSize)
  {
    throw BadInputError("samples are to be the voxels of an image of another size");
  }
}
} // namespace

ImageSampler::ImageSampler(Queue & queue)
  : m_Queue(queue)
{}

void
ImageSampler::Fill(const DeviceImage &  image,
                   const ImageSamples & samples,
                   const BinEdges *     bins,
                   kernels::StoredAs    form,
                   const Memory *       mask,
                   MemoryPointer &      kept)
{
  Check(image, samples);
  const std::int64_t count = CountOf(samples.sampleSize);
  ReserveExactly(m_Queue, kept, BytesOf(form) * static_cast<std::size_t>(count));
  kernels::ImageSampling a = MakeArguments(samples, bins, form);
  a.hasMask = mask != nullptr;
  WithReal(image.GetPrecision(), [&](auto zero) {
    using Real = decltype(zero);
    if (bins != nullptr)
    {
      // Memory of 0 bytes cannot be allocated.
      std::vector<Real> edges(bins->edges.begin(), bins->edges.end());
      edges.resize(std::max<std::size_t>(1, edges.size()));
      Reserve(m_Queue, m_Edges, sizeof(Real) * edges.size());
      UploadArray(m_Queue, *m_Edges, edges);
    }
  });
  MemoryPointer widened;
  ForEachItem<kernels::StoreImageValueKernel>(m_Queue,
                                              count,
                                              image.GetPrecision(),
                                              a,
                                              Input<RealNumber>(Widen(m_Queue, image, widened)),
                                              Input<RealNumber>(m_Edges.get()),
                                              Input<kernels::u8>(mask),
                                              Output<void>(*kept));
  // The caller may load the image again afterwards.
  m_Queue.Finish();
}

void
ImageSampler::FillMask(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & mask)
{
  const BinEdges half{ 0, { 0.5 } };
  this->Fill(image, samples, &half, kernels::StoredAsByte, nullptr, mask);
}

void
ImageSampler::FillMask(const DeviceImage & image, const Size & size, MemoryPointer & mask)
{
  ImageSamples samples;
  samples.sampleSize = samples.imageSize = size;
  this->FillMask(image, samples, mask);
}

void
ImageSampler::RoundToFloat(std::int64_t count, const Memory & doubles, double unit, Memory & floats)
{
  kernels::ImageSampling a{};
  a.unit = unit;
  a.form = kernels::StoredAsScaled;
  a.isOneGrid = 1;
  ForEachItem<kernels::StoreImageValueKernel>(m_Queue,
                                              count,
                                              Precision::Double,
                                              a,
                                              Input<RealNumber>(doubles),
                                              Input<RealNumber>(nullptr),
                                              Input<kernels::u8>(nullptr),
                                              Output<void>(floats));
}

} // namespace gpureg
