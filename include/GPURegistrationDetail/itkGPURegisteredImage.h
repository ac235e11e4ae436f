// SPDX-License-Identifier: Apache-2.0
// Images and masks of registration methods, on their way to a device.
#ifndef itkGPURegisteredImage_h
#define itkGPURegisteredImage_h

#include "GPURegistrationDetail/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/itkGPURegistrationGeometry.h"

#include "gpureg/LoadedImage.h"
#include "gpureg/RegisteredImage.h"

#include "itkSpatialObject.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** One side of a registration on a device, for as long as it is there. */
class RegisteredSide
{
public:
  explicit RegisteredSide(const std::string & deviceName)
    : m_Image(deviceName)
    , m_Mask(deviceName)
  {}

  /** Sends an image's values as they are if they are floats or doubles, else as floats; and 1 for each voxel that a mask says is
   *  inside, 0 for the others, unless the mask is null. The image is to stay: the host reads it where it is.
   *  \param object who asks, for what is thrown. \throws GPUBadInputError if no voxel is inside of the mask. */
  template <typename TImage>
  gpureg::RegisteredImage
  Load(const Object &                                object,
       const TImage &                                image,
       const SpatialObject<TImage::ImageDimension> * mask,
       const gpureg::ParallelFor &                   parallelFor)
  {
    constexpr unsigned int  dimension = TImage::ImageDimension;
    const auto              region = image.GetBufferedRegion();
    gpureg::RegisteredImage result;
    result.size = GPURegistrationGeometry::SizeOf<dimension>(region.GetSize());
    result.indexToPoint = GPURegistrationGeometry::GetIndexToPointMap<dimension>(image, region);
    this->LoadImage(image, parallelFor);
    result.image = &m_Image;
    if (mask != nullptr)
    {
      this->LoadMask(object, image, *mask, parallelFor);
      result.mask = &m_Mask;
    }
    return result;
  }

private:
  template <typename TImage>
  void
  LoadImage(const TImage & image, const gpureg::ParallelFor & parallelFor)
  {
    using PixelType = typename TImage::PixelType;
    const auto     count = static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
    const auto *   pixels = image.GetBufferPointer();
    constexpr bool isReal = std::is_same<PixelType, float>::value || std::is_same<PixelType, double>::value;
    constexpr bool isDouble = std::is_same<PixelType, double>::value;
    const void *   values = pixels;
    if constexpr (!isReal)
    {
      m_Floats.assign(pixels, pixels + count);
      values = m_Floats.data();
    }
    m_Image.Load({}, isDouble ? gpureg::Precision::Double : gpureg::Precision::Single, values, count, parallelFor);
  }

  template <typename TImage>
  void
  LoadMask(const Object &                                object,
           const TImage &                                image,
           const SpatialObject<TImage::ImageDimension> & mask,
           const gpureg::ParallelFor &                   parallelFor)
  {
    constexpr std::int64_t perTask = std::int64_t{ 1 } << 14;
    const auto             count = static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
    m_MaskFloats.resize(static_cast<std::size_t>(count));
    parallelFor((count + perTask - 1) / perTask, [&](std::int64_t task) {
      for (std::int64_t n = task * perTask; n < std::min(count, (task + 1) * perTask); ++n)
      {
        typename TImage::PointType point;
        image.TransformIndexToPhysicalPoint(image.ComputeIndex(n), point);
        m_MaskFloats[static_cast<std::size_t>(n)] = mask.IsInsideInWorldSpace(point) ? 1.0F : 0.0F;
      }
    });
    if (std::find(m_MaskFloats.begin(), m_MaskFloats.end(), 1.0F) == m_MaskFloats.end())
    {
      ThrowBadInput(object, "No voxel of an image is inside of its mask. Set another mask, or none.");
    }
    m_Mask.Load({}, gpureg::Precision::Single, m_MaskFloats.data(), count, parallelFor);
  }

  gpureg::LoadedImage m_Image;
  gpureg::LoadedImage m_Mask;
  std::vector<float>  m_Floats;
  std::vector<float>  m_MaskFloats;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
