// SPDX-License-Identifier: Apache-2.0
// Uploads the images and masks of registration methods.
#ifndef itkGPURegisteredImage_h
#define itkGPURegisteredImage_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/RegisteredImage.h"

#include "itkSpatialObject.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Does nothing if image is null.
 *  \param object the object in whose name errors are thrown.
 *  \param name the image's role in messages, such as "fixed".
 *  \throws GPUBadInputError if an image has less pixels in memory than its buffered region says, or none. */
template <typename TImage>
void
CheckHasPixels(const Object & object, const TImage * image, const std::string & name)
{
  if (image != nullptr)
  {
    const SizeValueType pixels = image->GetBufferedRegion().GetNumberOfPixels();
    if (pixels == 0 || image->GetPixelContainer()->Size() < pixels)
    {
      ThrowBadInput(object,
                    "The ",
                    name,
                    " image has no pixels. Allocate and fill it, or update the filter that makes it.");
    }
  }
}

/** Holds one image of a registration and its mask on a device, or on each of several, as long as an object of this class lives. */
class RegisteredSide
{
public:
  /** Makes an object without an image.
   * \param deviceNames the devices.
   * \param name the image's role in messages, such as "fixed". */
  RegisteredSide(const std::vector<std::string> & deviceNames, std::string name)
    : m_Name(std::move(name))
  {
    for (const std::string & device : deviceNames)
    {
      m_Images.push_back(std::make_unique<gpureg::LoadedImage>(device));
      m_Masks.push_back(std::make_unique<gpureg::LoadedImage>(device));
    }
  }

  /** Uploads an image's values to each device, as they are if they are floats or doubles, else as floats. If the mask is not null, uploads
   *  1 for each voxel inside and 0 for the others. Values are converted, and the mask evaluated, once. The image must live as long as this
   *  object: the host reads it in place.
   *  \param object the object in whose name errors are thrown.
   *  \param image the image.
   *  \param mask the mask, or null.
   *  \param parallelFor the threads to use.
   *  \return the image on each device.
   *  \throws GPUBadInputError if the image has no pixels, or no voxel is inside the mask. */
  template <typename TImage>
  std::vector<gpureg::RegisteredImage>
  Load(const Object &                                object,
       const TImage &                                image,
       const SpatialObject<TImage::ImageDimension> * mask,
       const gpureg::ParallelFor &                   parallelFor)
  {
    CheckHasPixels(object, &image, m_Name);
    m_Statistics = {};
    std::vector<gpureg::RegisteredImage> results(m_Images.size(), Describe(image));
    this->LoadImage(image, parallelFor);
    if (mask != nullptr)
    {
      this->LoadMask(object, image, *mask, parallelFor);
    }
    for (std::size_t n = 0; n < results.size(); ++n)
    {
      results[n].image = m_Images[n].get();
      results[n].mask = mask != nullptr ? m_Masks[n].get() : nullptr;
    }
    return results;
  }

  /** Returns an image's voxels, without values and mask. */
  template <typename TImage>
  static gpureg::RegisteredImage
  Describe(const TImage & image)
  {
    constexpr unsigned int  dimension = TImage::ImageDimension;
    const auto              region = image.GetBufferedRegion();
    gpureg::RegisteredImage described;
    described.size = GPURegistrationGeometry::SizeOf<dimension>(region.GetSize());
    described.indexToPoint = GPURegistrationGeometry::GetIndexToPointMap<dimension>(image, region);
    return described;
  }

  /** Returns the statistics of Load(), of the uploads to all devices. */
  const gpureg::EvaluationStatistics &
  GetStatistics() const
  {
    return m_Statistics;
  }

  /** True if a device computes with an image's pixels as they are. */
  template <typename TImage>
  static constexpr bool IsOfReals =
    std::is_same<typename TImage::PixelType, float>::value || std::is_same<typename TImage::PixelType, double>::value;

  /** Returns the image on the first device, without its mask, and leaves this object unusable. For images of floats or doubles. */
  std::unique_ptr<gpureg::LoadedImage>
  TakeImage()
  {
    return std::move(m_Images.front());
  }

private:
  template <typename TImage>
  void
  LoadImage(const TImage & image, const gpureg::ParallelFor & parallelFor)
  {
    using PixelType = typename TImage::PixelType;
    const auto     count = static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
    const auto *   pixels = image.GetBufferPointer();
    constexpr bool isDouble = std::is_same<PixelType, double>::value;
    const void *   values = pixels;
    if constexpr (!IsOfReals<TImage>)
    {
      m_Floats.assign(pixels, pixels + count);
      values = m_Floats.data();
    }
    this->Upload(
      m_Images, isDouble ? gpureg::Precision::Double : gpureg::Precision::Single, values, count, parallelFor);
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
      ThrowBadInput(object, "No voxel of the ", m_Name, " image is inside of its mask. Set another mask, or none.");
    }
    this->Upload(m_Masks, gpureg::Precision::Single, m_MaskFloats.data(), count, parallelFor);
  }

  void
  Upload(const std::vector<std::unique_ptr<gpureg::LoadedImage>> & images,
         gpureg::Precision                                         precision,
         const void *                                              values,
         std::int64_t                                              count,
         const gpureg::ParallelFor &                               parallelFor)
  {
    for (const auto & image : images)
    {
      image->Load({}, precision, values, count, parallelFor);
      m_Statistics = Add(m_Statistics, image->GetStatistics());
    }
  }

  std::string                                       m_Name;
  std::vector<std::unique_ptr<gpureg::LoadedImage>> m_Images; // one on each device
  std::vector<std::unique_ptr<gpureg::LoadedImage>> m_Masks;
  std::vector<float>                                m_Floats;
  std::vector<float>                                m_MaskFloats;
  gpureg::EvaluationStatistics                      m_Statistics;
};

/** Sets the images of an engine's problem, on its device; of several problems, one for each device, on theirs.
 *  \param fixed, moving the images on each device. */
template <typename TProblem>
void
SetImages(TProblem &                                   problem,
          unsigned int                                 dimension,
          const std::vector<gpureg::RegisteredImage> & fixed,
          const std::vector<gpureg::RegisteredImage> & moving)
{
  problem.dimension = static_cast<int>(dimension);
  problem.fixed = fixed.front();
  problem.moving = moving.front();
}
template <typename TProblem>
void
SetImages(std::vector<TProblem> &                      problems,
          unsigned int                                 dimension,
          const std::vector<gpureg::RegisteredImage> & fixed,
          const std::vector<gpureg::RegisteredImage> & moving)
{
  for (std::size_t n = 0; n < problems.size(); ++n)
  {
    SetImages(problems[n], dimension, { fixed[n] }, { moving[n] });
  }
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
