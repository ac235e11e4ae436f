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
#include <utility>
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
  a.hasRange = samples.summary != nullptr;
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
  const Size & its = samples.sampleSize;
  const Size & all = samples.imageSize;
  if (samples.isOneGrid &&
      (its[0] != all[0] || its[1] != all[1] || samples.firstPlane < 0 || samples.firstPlane + its[2] > all[2]))
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
  if (samples.summary != nullptr && (form == kernels::StoredAsPlace || form == kernels::StoredAsByte))
  {
    throw BadInputError(
      "places beside bins and masks need the bins' edges, and the host does not know the range of the values");
  }
  const std::int64_t count = CountOf(samples.sampleSize);
  ReserveExactly(m_Queue, kept, BytesOf(form) * static_cast<std::size_t>(count));
  kernels::ImageSampling a = MakeArguments(samples, bins, form);
  a.hasMask = mask != nullptr;
  const Memory * const edges =
    bins != nullptr && samples.summary == nullptr ? &this->GetEdges(*bins, image.GetPrecision()) : nullptr;
  MemoryPointer    widened;
  const WideValues values =
    WidenRange(m_Queue,
               image,
               samples.isOneGrid ? Range{ samples.firstPlane * a.imageShape.size[0] * a.imageShape.size[1], count }
                                 : Range{ 0, image.GetCount() },
               widened);
  ForEachItem<kernels::StoreImageValueKernel>(m_Queue,
                                              count,
                                              image.GetPrecision(),
                                              a,
                                              Input<RealNumber>(values.memory, values.first),
                                              Input<RealNumber>(edges),
                                              Input<double>(samples.summary),
                                              Input<kernels::u8>(mask),
                                              Output<void>(*kept));
  this->FinishUnlessOfQueue(samples);
}

const Memory &
ImageSampler::GetEdges(const BinEdges & bins, Precision precision)
{
  for (const UploadedEdges & one : m_Edges)
  {
    if (one.memory && one.precision == precision && one.edges == bins.edges)
    {
      return *one.memory;
    }
  }
  UploadedEdges & next = m_Edges[m_NextEdges];
  m_NextEdges = (m_NextEdges + 1) % MostEdges;
  // The old ones are not there any more if something throws.
  MemoryPointer memory = std::move(next.memory);
  WithReal(precision, [&](auto zero) {
    using Real = decltype(zero);
    // Memory of 0 bytes cannot be allocated.
    std::vector<Real> edges(bins.edges.begin(), bins.edges.end());
    edges.resize(std::max<std::size_t>(1, edges.size()));
    Reserve(m_Queue, memory, sizeof(Real) * edges.size());
    UploadArray(m_Queue, *memory, edges);
  });
  next.edges = bins.edges;
  next.precision = precision;
  next.memory = std::move(memory);
  return *next.memory;
}

void
ImageSampler::FinishUnlessOfQueue(const ImageSamples & samples)
{
  if (!samples.isOfQueue)
  {
    // The caller may load the image again afterwards.
    m_Queue.Finish();
  }
}

void
ImageSampler::FillQuads(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & quads)
{
  Check(image, samples);
  const std::int64_t count = CountOf(samples.imageSize);
  ReserveExactly(m_Queue, quads, sizeof(kernels::float4) * static_cast<std::size_t>(count));
  MemoryPointer widened;
  ForEachItem<kernels::StoreQuadKernel>(m_Queue,
                                        count,
                                        image.GetPrecision(),
                                        MakeArguments(samples, nullptr, kernels::StoredAsScaled),
                                        Input<RealNumber>(Widen(m_Queue, image, widened)),
                                        Input<double>(samples.summary),
                                        Output<kernels::float4>(*quads));
  this->FinishUnlessOfQueue(samples);
}

void
ImageSampler::FillMask(const DeviceImage & image, const ImageSamples & samples, MemoryPointer & mask)
{
  const BinEdges half{ 0, { 0.5 } };
  ImageSamples   places = samples;
  places.summary = nullptr;
  this->Fill(image, places, &half, kernels::StoredAsByte, nullptr, mask);
}

void
ImageSampler::FillMask(const DeviceImage & image, const Size & size, bool isOfQueue, MemoryPointer & mask)
{
  ImageSamples samples;
  samples.isOfQueue = isOfQueue;
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
                                              Input<double>(nullptr),
                                              Input<kernels::u8>(nullptr),
                                              Output<void>(floats));
}

} // namespace gpureg
