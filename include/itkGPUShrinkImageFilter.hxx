// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUShrinkImageFilter_hxx
#define itkGPUShrinkImageFilter_hxx

#include "itkGPUShrinkImageFilter.h"

#include "GPURegistrationDetail/core/itkGPUOutputMemory.h"
#include "GPURegistrationDetail/filter/itkGPUShrinkGeometry.h"

#include <algorithm>
#include <sstream>

namespace itk
{

template <typename TInputImage, typename TOutputImage>
void
GPUShrinkImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice()
{
  this->UpdateProgress(0.0f);
  this->AllocateOutputs();
  const TInputImage & input = *this->GetInput();
  TOutputImage &      output = *this->GetOutput();
  const auto          region = output.GetRequestedRegion();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  const auto offset = GPUShrinkGeometry::ComputeOffset(input, output, this->GetShrinkFactors());
  auto       first = region.GetIndex();
  auto       last = region.GetIndex();
  for (unsigned int d = 0; d < TInputImage::ImageDimension; ++d)
  {
    first[d] = first[d] * static_cast<IndexValueType>(this->GetShrinkFactors()[d]) + offset[d];
    last[d] = first[d] + static_cast<IndexValueType>((region.GetSize(d) - 1) * this->GetShrinkFactors()[d]);
  }
  // If the start index is not 0, the parent's rule, with its rounding, may lead to pixels outside the image.
  if (!input.GetBufferedRegion().IsInside(first) || !input.GetBufferedRegion().IsInside(last))
  {
    std::ostringstream message;
    message << "The pixels to keep, from " << first << " to " << last << ", are not all in the input's buffer, "
            << input.GetBufferedRegion();
    throw gpureg::BadInputError(message.str());
  }
  // An unmodified program wants the pixels on the host, where they are.
  if (m_Engine.GetDevice().IsHost() || m_Engine.OverridesParent())
  {
    this->TakeOnHost(first);
  }
  else
  {
    this->TakeOnGPU(first);
  }
  GPURegistrationDetail::ReportProgress(*this, 1.0f);
}

/** Returns the offset in the input's buffer of the first pixel that a row of the output keeps.
 * \param first the input index of the output's first pixel.
 * \param row the number of the row in the output's requested region. */
template <typename TInputImage, typename TOutputImage>
std::int64_t
GPUShrinkImageFilter<TInputImage, TOutputImage>::ComputeOffsetOfRow(const typename TInputImage::IndexType & first,
                                                                    std::int64_t                            row) const
{
  const auto & size = this->GetOutput()->GetRequestedRegion().GetSize();
  auto         index = first;
  for (unsigned int d = 1; d < TInputImage::ImageDimension; ++d)
  {
    const auto length = static_cast<std::int64_t>(size[d]);
    index[d] += static_cast<IndexValueType>(row % length) * static_cast<IndexValueType>(this->GetShrinkFactors()[d]);
    row /= length;
  }
  return static_cast<std::int64_t>(this->GetInput()->ComputeOffset(index));
}

/** Copies the pixels on the host: with both images in the host's memory, nothing needs to be transferred. */
template <typename TInputImage, typename TOutputImage>
void
GPUShrinkImageFilter<TInputImage, TOutputImage>::TakeOnHost(const typename TInputImage::IndexType & first)
{
  using InputComponentType = GPUVolume::ComponentType<TInputImage>;
  using OutputComponentType = GPUVolume::ComponentType<TOutputImage>;
  const auto & region = this->GetOutput()->GetRequestedRegion();
  const auto   components = static_cast<std::int64_t>(this->GetInput()->GetNumberOfComponentsPerPixel());
  const auto   width = static_cast<std::int64_t>(region.GetSize(0));
  const auto   step = static_cast<std::int64_t>(this->GetShrinkFactors()[0]) * components;
  const auto   rows = static_cast<std::int64_t>(region.GetNumberOfPixels()) / width;
  const auto * pixels = reinterpret_cast<const InputComponentType *>(this->GetInput()->GetBufferPointer());
  auto *       kept = reinterpret_cast<OutputComponentType *>(this->GetOutput()->GetBufferPointer());
  const auto   takeRow = [&](std::int64_t row) {
    const InputComponentType * from = pixels + this->ComputeOffsetOfRow(first, row) * components;
    OutputComponentType *      to = kept + row * width * components;
    for (std::int64_t x = 0; x < width; ++x, from += step, to += components)
    {
      for (std::int64_t c = 0; c < components; ++c)
      {
        to[c] = static_cast<OutputComponentType>(from[c]);
      }
    }
  };
  const auto threads = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  GPURegistrationDetail::PrepareForWriting(*this->GetOutput(), threads);
  // Each task copies several rows.
  const std::int64_t taskRows = std::max<std::int64_t>(1, (std::int64_t{ 1 } << 14) / width);
  threads((rows + taskRows - 1) / taskRows, [&](std::int64_t task) {
    const std::int64_t end = std::min(rows, (task + 1) * taskRows);
    for (std::int64_t row = task * taskRows; row < end; ++row)
    {
      takeRow(row);
    }
  });
}

template <typename TInputImage, typename TOutputImage>
void
GPUShrinkImageFilter<TInputImage, TOutputImage>::TakeOnGPU(const typename TInputImage::IndexType & first)
{
  TOutputImage & output = *this->GetOutput();
  const auto     region = output.GetRequestedRegion();
  const auto     threads = GPURegistrationDetail::MakeParallelFor(this->GetNumberOfWorkUnits());
  m_Engine.Run([&](gpureg::VolumeFilter & filter) {
    filter.SetVolume(this->MakeInputOfReadRows(first), threads);
    GPURegistrationDetail::ReportProgress(*this, 0.5f);
    gpureg::LineConvolution keep;
    keep.step = static_cast<int>(this->GetShrinkFactors()[0]);
    keep.outputLength = keep.end = static_cast<int>(region.GetSize(0));
    filter.Convolve(keep);
    GPUVolume::WriteOutput(filter, Precision, output, region, threads);
  });
}

/** Describes the input rows of which the output keeps pixels, in their full length. */
template <typename TInputImage, typename TOutputImage>
gpureg::VolumeInput
GPUShrinkImageFilter<TInputImage, TOutputImage>::MakeInputOfReadRows(
  const typename TInputImage::IndexType & first) const
{
  using InputComponentType = GPUVolume::ComponentType<TInputImage>;
  const TInputImage & input = *this->GetInput();
  const auto          components = static_cast<std::int64_t>(input.GetNumberOfComponentsPerPixel());
  const auto * const  pixels = reinterpret_cast<const InputComponentType *>(input.GetBufferPointer());

  gpureg::VolumeInput volume;
  volume.size = GPURegistrationGeometry::SizeOf(this->GetOutput()->GetRequestedRegion().GetSize());
  volume.size[0] = (volume.size[0] - 1) * static_cast<int>(this->GetShrinkFactors()[0]) + 1;
  volume.components = static_cast<int>(components);
  volume.precision = Precision;
  volume.values = [=](std::int64_t begin, std::int64_t count, void * out) {
    using RealType = std::conditional_t<Precision == gpureg::Precision::Single, float, double>;
    auto *             values = static_cast<RealType *>(out);
    const std::int64_t width = volume.size[0];
    for (std::int64_t done = 0; done < count;)
    {
      const std::int64_t x = (begin + done) % width;
      const std::int64_t now = std::min(count - done, width - x);
      const auto * const from = pixels + (this->ComputeOffsetOfRow(first, (begin + done) / width) + x) * components;
      values = std::transform(from, from + now * components, values, [](const auto value) {
        return static_cast<RealType>(value);
      });
      done += now;
    }
  };
  return volume;
}

} // namespace itk

#endif
