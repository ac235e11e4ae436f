// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUVolume_h
#define itkGPUVolume_h

#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"
#include "GPURegistrationDetail/core/itkGPULoadedImage.h"
#include "GPURegistrationDetail/core/itkGPUPixelComponents.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/filter/VolumeFilter.h"

#include "itkImageBase.h"
#include "itkNumericTraits.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace itk
{
/** Holds what filters on volumes have in common: transfers of images, and the device with its engine. */
namespace GPUVolume
{

template <typename TImage>
using ComponentType = typename NumericTraits<typename TImage::PixelType>::ValueType;

/** True if a double holds all digits of a T. */
template <typename T>
constexpr bool FitsIntoDouble = std::is_arithmetic<T>::value && std::numeric_limits<T>::digits <= 53;

/** True if a float holds all digits of a T. */
template <typename T>
constexpr bool FitsIntoFloat = std::is_arithmetic<T>::value && std::numeric_limits<T>::digits <= 24;

/** True if the engine can filter images of these two types. */
template <typename TInputImage, typename TOutputImage>
constexpr bool AreOfKnownTypes = static_cast<unsigned int>(TInputImage::ImageDimension) ==
                                   static_cast<unsigned int>(TOutputImage::ImageDimension) &&
                                 (TOutputImage::ImageDimension == 2 || TOutputImage::ImageDimension == 3) &&
                                 GPURegistrationDetail::HaveSameComponents<TInputImage, TOutputImage> && FitsIntoDouble<
                                   ComponentType<TInputImage>> && FitsIntoDouble<ComponentType<TOutputImage>>;

/** Describes a region of an image to the engine, cast to TComponent.
 * \throws itk::ExceptionObject if part of the region is not in the image's buffer. */
template <typename TImage, typename TComponent = ComponentType<TImage>>
gpureg::VolumeInput
MakeInput(const TImage & image, const typename TImage::RegionType & region, gpureg::Precision precision);

/** Writes the engine's volume to a region of an image that was just allocated, by static_cast. Each thread calls beforeWriting, unless
 *  it is empty, before each chunk that it writes. */
template <typename TImage>
void
WriteOutput(gpureg::VolumeFilter &              filter,
            gpureg::Precision                   precision,
            TImage &                            image,
            const typename TImage::RegionType & region,
            const gpureg::ParallelFor &         parallelFor,
            const std::function<void()> &       beforeWriting = {});

/** Returns true if the region is the image's whole buffer, and the image, of floats or doubles, has this precision. */
template <typename TImage>
bool
IsAllOf(const TImage & image, const typename TImage::RegionType & region, gpureg::Precision precision)
{
  return region == image.GetBufferedRegion() && precision == GPURegistrationDetail::PrecisionOf<TImage>;
}

/** Holds a filter's device, and runs its operations there. */
class Engine : public GPURegistrationDetail::DeviceUse
{
public:
  /** Returns the statistics of the last Run(). */
  const gpureg::EvaluationStatistics &
  GetStatistics() const
  {
    return m_Statistics;
  }

  /** Does the work of a filter's GenerateData(): see DeviceUse::Compute(). The filter names this class a friend. It has
   *  GenerateDataOnDevice() if its IsOfKnownTypes is true, which says that the engine knows its images' types.
   *  \param filter the filter.
   *  \param whyNot a sentence that says that the engine does not know the types.
   *  \param advice what to do if the host has too little memory.
   *  \param onParent computes the output by the parent class. */
  template <typename TFilter, typename TOnParent>
  void
  Generate(TFilter & filter, const char * whyNot, const char * advice, const TOnParent & onParent)
  {
    const auto onDevice = [&filter] {
      if constexpr (TFilter::IsOfKnownTypes)
      {
        filter.GenerateDataOnDevice();
      }
    };
    const auto findUnsupported = [&] {
      if (!TFilter::IsOfKnownTypes)
      {
        return std::string(whyNot);
      }
      const std::string & device = this->GetDevice().GetName();
      return gpureg::HasDoubles(device) ? std::string() : "The device " + device + " does not compute in doubles.";
    };
    this->Compute(filter, advice, findUnsupported, onDevice, onParent);
  }

  /** Calls work with an engine on the device, and frees the engine's volumes afterwards. */
  template <typename TWork>
  void
  Run(const TWork & work)
  {
    m_User.Run(this->GetDevice().GetName(), {}, [&](gpureg::VolumeFilter & filter) {
      filter.SetTiming(this->GetMeasuresKernelTime());
      m_Statistics = {};
      work(filter);
      filter.Release();
      m_Statistics = gpureg::Add(m_Statistics, filter.GetStatistics());
    });
  }

  /** Sets the volume to a region of an image. A whole image of floats or doubles stays on the device as long as the image lives;
   *  another filter or metric that reads it does not upload it again if a hash proves that it is unchanged. On the host nothing is
   *  kept. */
  template <typename TImage>
  void
  SetInput(gpureg::VolumeFilter &              filter,
           const TImage &                      image,
           const typename TImage::RegionType & region,
           gpureg::Precision                   precision,
           const gpureg::ParallelFor &         parallelFor)
  {
    if constexpr (GPURegistrationDetail::IsLoadable<TImage>)
    {
      if (!this->GetDevice().IsHost() && IsAllOf(image, region, precision) && region.GetNumberOfPixels() > 0)
      {
        try
        {
          auto loaded = this->TakeImageOf(image);
          GPURegistrationDetail::LoadImage(*loaded, image, parallelFor);
          filter.SetVolume(*loaded, GPURegistrationGeometry::SizeOf(region.GetSize()), parallelFor);
          m_Statistics = loaded->GetStatistics();
          StoreImageOf(image, std::move(loaded));
          return;
        }
        catch (const gpureg::OutOfMemoryError &)
        {
          // The device's memory does not hold both copies: the volume is set without keeping the image.
        }
      }
    }
    filter.SetVolume(MakeInput(image, region, precision), parallelFor);
  }

  /** Keeps a copy of the filter's volume on the device for readers of the output image that the volume was just written to: see
   * SetInput(). */
  template <typename TImage>
  void
  LeaveOutput(gpureg::VolumeFilter & filter, const TImage & image, gpureg::Precision precision)
  {
    if constexpr (GPURegistrationDetail::IsLoadable<TImage>)
    {
      if (!this->GetDevice().IsHost() && IsAllOf(image, image.GetRequestedRegion(), precision))
      {
        try
        {
          auto loaded = this->TakeImageOf(image);
          loaded->Adopt(filter.CopyVolume(), GPURegistrationDetail::GetBuffer(image));
          StoreImageOf(image, std::move(loaded));
        }
        catch (const gpureg::OutOfMemoryError &)
        {
          // The image will be uploaded again.
        }
      }
    }
  }

  /** Writes the volume to the requested region of a filter's output, whose buffer may be that of the input. Once something is written
   *  there, the parent class can no longer compute the output. */
  template <typename TInputImage, typename TOutputImage>
  void
  WriteOutputInPlace(gpureg::VolumeFilter &      filter,
                     gpureg::Precision           precision,
                     const TInputImage &         input,
                     TOutputImage &              output,
                     const gpureg::ParallelFor & parallelFor)
  {
    std::function<void()> beforeWriting;
    if (static_cast<const void *>(output.GetBufferPointer()) == input.GetBufferPointer())
    {
      beforeWriting = [this] { this->NoteInputIsOverwritten(); };
    }
    WriteOutput(filter, precision, output, output.GetRequestedRegion(), parallelFor, beforeWriting);
  }

private:
  /** Returns the idle device image of an image's buffer, or another device image. */
  template <typename TImage>
  std::unique_ptr<gpureg::LoadedImage>
  TakeImageOf(const TImage & image) const
  {
    return gpureg::TakeEngine<gpureg::LoadedImage>(this->GetDevice().GetName(),
                                                   gpureg::LoadedImage::KeyOf(GPURegistrationDetail::GetBuffer(image)),
                                                   static_cast<const Object *>(&image));
  }

  /** Keeps a device image idle until others take its place, the device is short of memory, or the image is deleted. */
  template <typename TImage>
  static void
  StoreImageOf(const TImage & image, std::unique_ptr<gpureg::LoadedImage> loaded)
  {
    const Object & object = image;
    GPURegistrationDetail::DropIdleEnginesWith(object);
    gpureg::StoreIdleEngine(std::move(loaded), &object);
  }

  gpureg::EngineUser<gpureg::VolumeFilter> m_User;
  gpureg::EvaluationStatistics             m_Statistics;
};

} // namespace GPUVolume
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "GPURegistrationDetail/filter/itkGPUVolume.hxx"
#endif

#endif
