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
/** What the filters that work on a volume on a device have in common: images to the device and back, and the
 * device with its engine. */
namespace GPUVolume
{

template <typename TImage>
using ComponentType = typename NumericTraits<typename TImage::PixelType>::ValueType;

/** Whether a double keeps all of a number's digits. */
template <typename T>
constexpr bool FitsIntoDouble = std::is_arithmetic<T>::value && std::numeric_limits<T>::digits <= 53;

/** Whether a float does. */
template <typename T>
constexpr bool FitsIntoFloat = std::is_arithmetic<T>::value && std::numeric_limits<T>::digits <= 24;

/** Whether images of these two types can be the engine's. */
template <typename TInputImage, typename TOutputImage>
constexpr bool AreOfKnownTypes = static_cast<unsigned int>(TInputImage::ImageDimension) ==
                                   static_cast<unsigned int>(TOutputImage::ImageDimension) &&
                                 (TOutputImage::ImageDimension == 2 || TOutputImage::ImageDimension == 3) &&
                                 GPURegistrationDetail::HaveSameComponents<TInputImage, TOutputImage> && FitsIntoDouble<
                                   ComponentType<TInputImage>> && FitsIntoDouble<ComponentType<TOutputImage>>;

/** What the engine gets of a region of an image, cast to TComponent on the way.
 * \throws itk::ExceptionObject if not all of it is in the image's buffer */
template <typename TImage, typename TComponent = ComponentType<TImage>>
gpureg::VolumeInput
MakeInput(const TImage & image, const typename TImage::RegionType & region, gpureg::Precision precision);

/** Writes the engine's volume to a region of an image that was just allocated, as static_cast does. Each thread calls
 *  beforeWriting, if it is there, before each part that it writes. */
template <typename TImage>
void
WriteOutput(gpureg::VolumeFilter &              filter,
            gpureg::Precision                   precision,
            TImage &                            image,
            const typename TImage::RegionType & region,
            const gpureg::ParallelFor &         parallelFor,
            const std::function<void()> &       beforeWriting = {});

/** Whether all of an image that is loadable is a region of it, and is values of this precision. */
template <typename TImage>
bool
IsAllOf(const TImage & image, const typename TImage::RegionType & region, gpureg::Precision precision)
{
  return region == image.GetBufferedRegion() && precision == GPURegistrationDetail::PrecisionOf<TImage>;
}

/** A filter's device, and its work there. */
class Engine : public GPURegistrationDetail::DeviceUse
{
public:
  /** Of the last Run. */
  const gpureg::EvaluationStatistics &
  GetStatistics() const
  {
    return m_Statistics;
  }

  /** GenerateData() of a filter, a friend of this, which has GenerateDataOnDevice() if IsOfKnownTypes: whether the engine knows
   *  its images' types. See DeviceUse::Compute.
   *  \param whyNot a sentence that says that it does not. */
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
    const auto findLack = [&] {
      if (!TFilter::IsOfKnownTypes)
      {
        return std::string(whyNot);
      }
      const std::string & device = this->GetDevice().GetName();
      return gpureg::HasDoubles(device) ? std::string() : "The device " + device + " does not compute in doubles.";
    };
    this->Compute(filter, advice, findLack, onDevice, onParent);
  }

  /** Calls work with an engine on the device, whose memory is given back then. */
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

  /** Sets the volume to a region of an image. All of an image of floats or doubles stays on the device as long as it lives, and is
   *  not sent again where another filter or a metric reads it, if a hash proves that it is the same. On the host nothing is copied. */
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
          KeepImageOf(image, std::move(loaded));
          return;
        }
        catch (const gpureg::OutOfMemoryError &)
        {
          // Then there is no room for both.
        }
      }
    }
    filter.SetVolume(MakeInput(image, region, precision), parallelFor);
  }

  /** Leaves a copy of the filter's volume on the device, for who reads the output image that it was just written to: see SetInput. */
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
          KeepImageOf(image, std::move(loaded));
        }
        catch (const gpureg::OutOfMemoryError &)
        {
          // Then it is sent again.
        }
      }
    }
  }

  /** WriteOutput to the requested region of a filter's output that may be its input: the parent class cannot make it
   *  any more once something was written there. */
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
  /** What the device has of an image's buffer, if that is idle, or another. */
  template <typename TImage>
  std::unique_ptr<gpureg::LoadedImage>
  TakeImageOf(const TImage & image) const
  {
    return gpureg::TakeEngine<gpureg::LoadedImage>(this->GetDevice().GetName(),
                                                   gpureg::LoadedImage::KeyOf(GPURegistrationDetail::GetBuffer(image)),
                                                   static_cast<const Object *>(&image));
  }

  /** Idle until others take its place, the device is short of memory, or the image is deleted. */
  template <typename TImage>
  static void
  KeepImageOf(const TImage & image, std::unique_ptr<gpureg::LoadedImage> loaded)
  {
    const Object & object = image;
    GPURegistrationDetail::DropIdleEnginesWith(object);
    gpureg::KeepIdleEngine(std::move(loaded), &object);
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
