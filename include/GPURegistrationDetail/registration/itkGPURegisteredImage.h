// SPDX-License-Identifier: Apache-2.0
// Uploads the images and masks of registration methods.
#ifndef itkGPURegisteredImage_h
#define itkGPURegisteredImage_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"

#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/Geometry.h"
#include "gpureg/core/NumberType.h"
#include "gpureg/core/ParallelFor.h"
#include "gpureg/core/Precision.h"
#include "gpureg/image/DeviceImage.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/NarrowImage.h"
#include "gpureg/image/RegisteredImage.h"
#include "gpureg/registration/MemoryPlan.h"

#include "itkSpatialObject.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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

/** Returns true if devices compute with pixels of a type as they are, as with floats or doubles. */
template <typename TImage>
constexpr bool IsOfReals =
  std::is_same<typename TImage::PixelType, float>::value || std::is_same<typename TImage::PixelType, double>::value;

/** Returns the type of the numbers that devices hold for an image: the pixels' own for floats, doubles and integers of 8 and 16 bits, which
 *  registrations convert where they read them; else floats. */
template <typename TImage>
constexpr gpureg::NumberType
GetHeldType()
{
  using PixelType = typename TImage::PixelType;
  if constexpr (std::is_integral<PixelType>::value && !std::is_same<PixelType, bool>::value && sizeof(PixelType) <= 2)
  {
    constexpr bool isSigned = std::is_signed<PixelType>::value;
    return sizeof(PixelType) == 1 ? (isSigned ? gpureg::NumberType::Int8 : gpureg::NumberType::UInt8)
                                  : (isSigned ? gpureg::NumberType::Int16 : gpureg::NumberType::UInt16);
  }
  return std::is_same<PixelType, double>::value ? gpureg::NumberType::Float64 : gpureg::NumberType::Float32;
}

/** An image or a mask that a device is going to hold: on no device before Load(), and from then on there. */
class PromisedImage : public gpureg::DeviceImage
{
public:
  /** Describes count numbers of a type. */
  PromisedImage(gpureg::NumberType type, std::int64_t count, const std::string & deviceName)
    : m_Planned(type,
                count,
                deviceName,
                deviceName == "host" ? 0 : gpureg::BytesOf(type) * static_cast<std::size_t>(count))
  {}

  /** Uploads the values; the host itself reads them in place, so they must stay where they are. */
  void
  Load(const void * values, const gpureg::ParallelFor & parallelFor)
  {
    const gpureg::NumberType type = m_Planned.GetNumberType();
    const std::int64_t       count = m_Planned.GetCount();
    if (gpureg::IsNarrow(type))
    {
      m_Narrow = std::make_unique<gpureg::NarrowImage>(m_Planned.GetDeviceName(), type, values, count, parallelFor);
      return;
    }
    m_Loaded = std::make_unique<gpureg::LoadedImage>(m_Planned.GetDeviceName());
    m_Loaded->Load({}, m_Planned.GetPrecision(), values, count, parallelFor);
  }

  /** Returns the statistics of Load(). */
  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    return m_Loaded ? m_Loaded->GetStatistics() : m_Narrow ? m_Narrow->GetStatistics() : gpureg::EvaluationStatistics();
  }

  /** Returns the loaded floats or doubles, and leaves this object unusable. */
  std::unique_ptr<gpureg::LoadedImage>
  Take()
  {
    return std::move(m_Loaded);
  }

  const gpureg::Memory *
  GetMemory() const override
  {
    return this->Get().GetMemory();
  }
  gpureg::Precision
  GetPrecision() const override
  {
    return this->Get().GetPrecision();
  }
  std::int64_t
  GetCount() const override
  {
    return this->Get().GetCount();
  }
  const std::string &
  GetDeviceName() const override
  {
    return this->Get().GetDeviceName();
  }
  const gpureg::Memory *
  GetNumbers() const override
  {
    return this->Get().GetNumbers();
  }
  gpureg::NumberType
  GetNumberType() const override
  {
    return this->Get().GetNumberType();
  }
  std::size_t
  GetAccountBytes() const override
  {
    return this->Get().GetAccountBytes();
  }

private:
  const gpureg::DeviceImage &
  Get() const
  {
    if (m_Loaded)
    {
      return *m_Loaded;
    }
    if (m_Narrow)
    {
      return *m_Narrow;
    }
    return m_Planned;
  }

  gpureg::PlannedImage                 m_Planned;
  std::unique_ptr<gpureg::LoadedImage> m_Loaded;
  std::unique_ptr<gpureg::NarrowImage> m_Narrow;
};

/** Says what an object registers images for. */
enum class RegisteredFor
{
  Plan, // pixels need not be there yet
  Result
};

/** Holds the images of a registration and their masks on a device, or on each of several, as long as an object of this class lives. The
 *  registration is planned when all images are added; then Load() uploads them. */
class RegisteredImages
{
public:
  /** Makes an object without images.
   *  \param object the object in whose name errors are thrown.
   *  \param deviceNames the devices. */
  RegisteredImages(const Object & object, std::vector<std::string> deviceNames, RegisteredFor purpose)
    : m_Object(object)
    , m_DeviceNames(std::move(deviceNames))
    , m_Purpose(purpose)
  {}
  ITK_DISALLOW_COPY_AND_MOVE(RegisteredImages);

  const std::vector<std::string> &
  GetDeviceNames() const
  {
    return m_DeviceNames;
  }

  /** Adds an image and, if it is not null, its mask, which must live until Load(). The image is kept: the host reads pixels in place.
   *  \param name the image's role in messages, such as "fixed".
   *  \return the image for each device, where its values are from Load() on.
   *  \throws GPUBadInputError if the image has no pixels, or none to come for a plan. */
  template <typename TImage>
  std::vector<gpureg::RegisteredImage>
  Add(const TImage & image, const SpatialObject<TImage::ImageDimension> * mask, const std::string & name)
  {
    if (m_Purpose == RegisteredFor::Result || image.GetLargestPossibleRegion().GetNumberOfPixels() == 0)
    {
      CheckHasPixels(m_Object, &image, name);
    }
    Side & side = m_Sides.emplace_back();
    side.name = name;
    const gpureg::RegisteredImage        described = Describe(image);
    const auto                           count = static_cast<std::int64_t>(gpureg::CountOf(described.size));
    std::vector<gpureg::RegisteredImage> results(m_DeviceNames.size(), described);
    for (std::size_t n = 0; n < results.size(); ++n)
    {
      results[n].image = &side.images.emplace_back(GetHeldType<TImage>(), count, m_DeviceNames[n]);
      if (mask != nullptr)
      {
        results[n].mask = &side.masks.emplace_back(gpureg::NumberType::Float32, count, m_DeviceNames[n]);
      }
    }
    const typename TImage::ConstPointer kept = &image;
    side.load = [this, &side, kept, mask](const gpureg::ParallelFor & parallelFor) {
      this->LoadImage(side, *kept, parallelFor);
      if (mask != nullptr)
      {
        this->LoadMask(side, *kept, *mask, parallelFor);
      }
    };
    return results;
  }

  /** Uploads the values of all images to each device, as GetHeldType() says, and of all masks: 1 for each voxel inside, and 0 for the
   *  others. Values are converted, and masks evaluated, once.
   *  \param parallelFor the threads to use.
   *  \throws GPUBadInputError if no voxel is inside a mask. */
  void
  Load(const gpureg::ParallelFor & parallelFor)
  {
    for (Side & side : m_Sides)
    {
      side.load(parallelFor);
    }
  }

  /** Returns the statistics of the uploads to all devices. */
  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    gpureg::EvaluationStatistics statistics;
    for (const Side & side : m_Sides)
    {
      for (const auto * const images : { &side.images, &side.masks })
      {
        for (const PromisedImage & image : *images)
        {
          statistics = gpureg::Add(statistics, image.GetStatistics());
        }
      }
    }
    return statistics;
  }

  /** Returns the loaded image that was added last, on the first device, and leaves this object unusable. For images of reals. */
  std::unique_ptr<gpureg::LoadedImage>
  TakeLast()
  {
    return m_Sides.back().images.front().Take();
  }

private:
  /** An image and its mask. */
  struct Side
  {
    std::string                                                  name;
    std::deque<PromisedImage>                                    images; // one on each device
    std::deque<PromisedImage>                                    masks;
    std::vector<float>                                           floats;
    std::vector<float>                                           maskFloats;
    std::function<void(const gpureg::ParallelFor & parallelFor)> load;
  };

  /** Returns an image's voxels, without values and mask: those in its buffer or, for a plan of what a pipeline makes, those that it will
   *  have. */
  template <typename TImage>
  gpureg::RegisteredImage
  Describe(const TImage & image) const
  {
    constexpr unsigned int dimension = TImage::ImageDimension;
    // The buffer may be that of an earlier run, or a part that another filter has asked for.
    const auto buffered = image.GetBufferedRegion();
    const bool isToCome = m_Purpose == RegisteredFor::Plan && (image.GetSource() || buffered.GetNumberOfPixels() == 0);
    const auto region = isToCome ? image.GetLargestPossibleRegion() : buffered;
    gpureg::RegisteredImage described;
    described.size = GPURegistrationGeometry::SizeOf<dimension>(region.GetSize());
    described.indexToPoint = GPURegistrationGeometry::GetIndexToPointMap<dimension>(image, region);
    return described;
  }

  template <typename TImage>
  static void
  LoadImage(Side & side, const TImage & image, const gpureg::ParallelFor & parallelFor)
  {
    const auto * const pixels = image.GetBufferPointer();
    const void *       values = pixels;
    if constexpr (!IsOfReals<TImage> && GetHeldType<TImage>() == gpureg::NumberType::Float32)
    {
      side.floats.assign(pixels, pixels + image.GetBufferedRegion().GetNumberOfPixels());
      values = side.floats.data();
    }
    Upload(side.images, values, parallelFor);
  }

  template <typename TImage>
  void
  LoadMask(Side &                                        side,
           const TImage &                                image,
           const SpatialObject<TImage::ImageDimension> & mask,
           const gpureg::ParallelFor &                   parallelFor) const
  {
    constexpr std::int64_t perTask = std::int64_t{ 1 } << 14;
    const auto             count = static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
    std::vector<float> &   floats = side.maskFloats;
    floats.resize(static_cast<std::size_t>(count));
    parallelFor((count + perTask - 1) / perTask, [&](std::int64_t task) {
      for (std::int64_t n = task * perTask; n < std::min(count, (task + 1) * perTask); ++n)
      {
        typename TImage::PointType point;
        image.TransformIndexToPhysicalPoint(image.ComputeIndex(n), point);
        floats[static_cast<std::size_t>(n)] = mask.IsInsideInWorldSpace(point) ? 1.0F : 0.0F;
      }
    });
    if (std::find(floats.begin(), floats.end(), 1.0F) == floats.end())
    {
      ThrowBadInput(m_Object,
                    "No voxel of the ",
                    side.name,
                    " image is inside of its mask. Set another mask, or none.");
    }
    Upload(side.masks, floats.data(), parallelFor);
  }

  static void
  Upload(std::deque<PromisedImage> & images, const void * values, const gpureg::ParallelFor & parallelFor)
  {
    for (PromisedImage & image : images)
    {
      image.Load(values, parallelFor);
    }
  }

  const Object &           m_Object;
  std::vector<std::string> m_DeviceNames;
  RegisteredFor            m_Purpose;
  std::deque<Side>         m_Sides;
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
