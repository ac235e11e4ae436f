// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUVolume_h
#define itkGPUVolume_h

#include "itkGPUDevice.h"
#include "itkGPUOrParent.h"
#include "itkGPUPixelComponents.h"
#include "itkGPURegistrationGeometry.h"
#include "itkGPURegistrationThreads.h"

#include "gpureg/VolumeFilter.h"

#include "itkImageBase.h"
#include "itkNumericTraits.h"

#include <limits>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

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

/** Writes the engine's volume to a region of an image that was just allocated, as static_cast does. */
template <typename TImage>
void
WriteOutput(gpureg::VolumeFilter &              filter,
            gpureg::Precision                   precision,
            TImage &                            image,
            const typename TImage::RegionType & region,
            const gpureg::ParallelFor &         parallelFor);

/** A filter's device and its engine there, made when it is first needed. */
class Engine
{
public:
  const GPUDevice &
  GetDevice() const
  {
    return m_Device;
  }

  /** Whether that is another one. */
  bool
  SetDevice(const GPUDevice & device)
  {
    const bool isAnother = m_Device != device;
    m_Device = device;
    return isAnother;
  }

  void
  SetMeasuresKernelTime(bool on)
  {
    m_MeasuresKernelTime = on;
  }

  /** For a filter's PrintSelf. */
  void
  Print(std::ostream & os, Indent indent) const
  {
    os << indent << "Device: " << m_Device << std::endl;
    os << indent << "MeasuresKernelTime: " << (m_MeasuresKernelTime ? "On" : "Off") << std::endl;
  }

  /** \throws gpureg::Error if the device is not there. */
  gpureg::VolumeFilter &
  GetFilter();

  /** A sentence that says what the device lacks for any filter of volumes; empty if nothing. */
  std::string
  FindWhatTheDeviceLacks()
  {
    return this->GetFilter().HasDoubles() ? std::string()
                                          : "The device " + m_Device.GetName() + " does not compute in doubles.";
  }

  gpureg::EvaluationStatistics
  GetStatistics() const
  {
    return m_Filter ? m_Filter->GetStatistics() : gpureg::EvaluationStatistics();
  }

  /** Of what the device lacks. */
  std::set<std::string> &
  GetSaid()
  {
    return m_Said;
  }

  /** Calls work with the filter; whatever becomes of it, the device's memory is given back. */
  template <typename TWork>
  void
  Run(const TWork & work)
  {
    gpureg::VolumeFilter & filter = this->GetFilter();
    try
    {
      work(filter);
      filter.Release();
    }
    catch (...)
    {
      // After a failed operation the filter may be of no more use.
      m_Filter.reset();
      throw;
    }
  }

private:
  GPUDevice                             m_Device{ GPUDevice::GetDefault() };
  bool                                  m_MeasuresKernelTime{ false };
  std::unique_ptr<gpureg::VolumeFilter> m_Filter;
  std::set<std::string>                 m_Said;
};

} // namespace GPUVolume
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGPUVolume.hxx"
#endif

#endif
