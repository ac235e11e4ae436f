// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUVolume_h
#define itkGPUVolume_h

#include "itkGPUDevice.h"
#include "itkGPUOrParent.h"
#include "itkGPURegistrationGeometry.h"
#include "itkGPURegistrationThreads.h"

#include "gpureg/VolumeFilter.h"

#include "itkImageBase.h"
#include "itkNumericTraits.h"

#include <algorithm>
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
constexpr bool AreOfKnownTypes =
  static_cast<unsigned int>(TInputImage::ImageDimension) == static_cast<unsigned int>(TOutputImage::ImageDimension) &&
  (TOutputImage::ImageDimension == 2 || TOutputImage::ImageDimension == 3) &&
  FitsIntoDouble<ComponentType<TInputImage>> && FitsIntoDouble<ComponentType<TOutputImage>>;

/** Calls work(row, begin, count), for the parts that voxels first … first + count - 1 of a region have of its
 * rows: the offset in an image's buffer of a row's voxel, its place in first …, and how many. */
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

/** What the engine gets of a region of an image, cast to TComponent on the way. */
template <typename TImage, typename TComponent = ComponentType<TImage>>
gpureg::VolumeInput
MakeInput(const TImage & image, const typename TImage::RegionType & region, gpureg::Precision precision)
{
  const auto          components = static_cast<std::int64_t>(image.GetNumberOfComponentsPerPixel());
  const auto * const  pixels = reinterpret_cast<const ComponentType<TImage> *>(image.GetBufferPointer());
  gpureg::VolumeInput input;
  input.size = GPURegistrationGeometry::SizeOf(region.GetSize());
  input.components = static_cast<int>(components);
  input.precision = precision;
  input.values = [=, &image](std::int64_t first, std::int64_t count, void * out) {
    ForEachRow(image, region, first, count, [&](std::int64_t row, std::int64_t begin, std::int64_t now) {
      const auto copy = [&](auto * values) {
        using RealType = std::remove_pointer_t<decltype(values)>;
        std::transform(pixels + row * components,
                       pixels + (row + now) * components,
                       values + begin * components,
                       [](const auto value) { return static_cast<RealType>(static_cast<TComponent>(value)); });
      };
      precision == gpureg::Precision::Single ? copy(static_cast<float *>(out)) : copy(static_cast<double *>(out));
    });
  };
  return input;
}

/** Writes the engine's volume to a region of an image, as static_cast does. */
template <typename TImage>
void
WriteOutput(gpureg::VolumeFilter &              filter,
            gpureg::Precision                   precision,
            TImage &                            image,
            const typename TImage::RegionType & region)
{
  const auto   components = static_cast<std::int64_t>(image.GetNumberOfComponentsPerPixel());
  auto * const pixels = reinterpret_cast<ComponentType<TImage> *>(image.GetBufferPointer());
  filter.GetVolume([&](std::int64_t first, std::int64_t count, const void * in) {
    ForEachRow(image, region, first, count, [&](std::int64_t row, std::int64_t begin, std::int64_t now) {
      const auto copy = [&](const auto * values) {
        std::transform(values + begin * components,
                       values + (begin + now) * components,
                       pixels + row * components,
                       [](const auto value) { return static_cast<ComponentType<TImage>>(value); });
      };
      precision == gpureg::Precision::Single ? copy(static_cast<const float *>(in))
                                             : copy(static_cast<const double *>(in));
    });
  });
}

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
  GetFilter()
  {
    if (!m_Filter || m_Filter->GetDeviceName() != m_Device.GetName())
    {
      m_Filter.reset();
      m_Filter = std::make_unique<gpureg::VolumeFilter>(m_Device.GetName());
    }
    m_Filter->SetTiming(m_MeasuresKernelTime);
    return *m_Filter;
  }

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
    }
    catch (...)
    {
      // After a failed operation the filter may be of no more use.
      m_Filter.reset();
      throw;
    }
    filter.Release();
  }

private:
  GPUDevice                             m_Device{ GPUDevice::GetDefault() };
  bool                                  m_MeasuresKernelTime{ false };
  std::unique_ptr<gpureg::VolumeFilter> m_Filter;
  std::set<std::string>                 m_Said;
};

} // namespace GPUVolume
} // namespace itk

#endif
