// SPDX-License-Identifier: Apache-2.0
// Defines the templates of itkGPUVolume.h, apart from the header as in ITK.
#ifndef itkGPUVolume_hxx
#define itkGPUVolume_hxx

#include "GPURegistrationDetail/filter/itkGPUVolume.h"

#include "GPURegistrationDetail/core/itkGPUOutputMemory.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"

#include <algorithm>

namespace itk
{
namespace GPUVolume
{

/** Calls work(offset, begin, count) for each row of a region that contains some of the voxels first … first + count - 1. offset is the
 * position of the row's first such voxel in the image's buffer, begin its position among these voxels, and count their number in the
 * row. */
template <unsigned int VDimension, typename TWork>
void
ForEachRow(const ImageBase<VDimension> &   image,
           const ImageRegion<VDimension> & region,
           std::int64_t                    first,
           std::int64_t                    count,
           const TWork &                   work)
{
  const auto width = static_cast<std::int64_t>(region.GetSize(0));
  for (std::int64_t done = 0; done < count;)
  {
    Index<VDimension> index = region.GetIndex();
    std::int64_t      rest = first + done;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const auto size = static_cast<std::int64_t>(region.GetSize(d));
      index[d] += static_cast<IndexValueType>(rest % size);
      rest /= size;
    }
    const std::int64_t now = std::min(count - done, width - (first + done) % width);
    work(static_cast<std::int64_t>(image.ComputeOffset(index)), done, now);
    done += now;
  }
}

template <typename TImage, typename TComponent>
gpureg::VolumeInput
MakeInput(const TImage & image, const typename TImage::RegionType & region, gpureg::Precision precision)
{
  // The buffer lacks the region if the image was released, or filtered in place, and has no source that would make it again.
  if (!image.GetBufferedRegion().IsInside(region))
  {
    itkSpecializedMessageExceptionMacro(GPUBadInputError,
                                        "Region " << region << " is outside of buffered region "
                                                  << image.GetBufferedRegion()
                                                  << ": set an image that has its pixels.");
  }
  const auto          components = static_cast<std::int64_t>(image.GetNumberOfComponentsPerPixel());
  const auto * const  pixels = reinterpret_cast<const ComponentType<TImage> *>(image.GetBufferPointer());
  gpureg::VolumeInput input;
  input.size = GPURegistrationGeometry::SizeOf(region.GetSize());
  input.components = static_cast<int>(components);
  input.precision = precision;
  input.values = [=, &image](std::int64_t first, std::int64_t count, void * out) {
    ForEachRow(image, region, first, count, [&](std::int64_t row, std::int64_t begin, std::int64_t now) {
      gpureg::WithReal(precision, [&](auto zero) {
        using RealType = decltype(zero);
        std::transform(pixels + row * components,
                       pixels + (row + now) * components,
                       static_cast<RealType *>(out) + begin * components,
                       [](const auto value) { return static_cast<RealType>(static_cast<TComponent>(value)); });
      });
    });
  };
  return input;
}

template <typename TImage>
void
WriteOutput(gpureg::VolumeFilter &              filter,
            gpureg::Precision                   precision,
            TImage &                            image,
            const typename TImage::RegionType & region,
            const gpureg::ParallelFor &         parallelFor,
            const std::function<void()> &       beforeWriting)
{
  const auto   components = static_cast<std::int64_t>(image.GetNumberOfComponentsPerPixel());
  auto * const pixels = reinterpret_cast<ComponentType<TImage> *>(image.GetBufferPointer());
  GPURegistrationDetail::PrepareForWriting(image, parallelFor);
  filter.GetVolume([&](std::int64_t first, std::int64_t count, const void * in) {
    if (beforeWriting)
    {
      beforeWriting();
    }
    ForEachRow(image, region, first, count, [&](std::int64_t row, std::int64_t begin, std::int64_t now) {
      gpureg::WithReal(precision, [&](auto zero) {
        const auto * const values = static_cast<const decltype(zero) *>(in);
        std::transform(values + begin * components,
                       values + (begin + now) * components,
                       pixels + row * components,
                       [](const auto value) { return static_cast<ComponentType<TImage>>(value); });
      });
    });
  });
}

} // namespace GPUVolume
} // namespace itk

#endif
