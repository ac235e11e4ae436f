// SPDX-License-Identifier: Apache-2.0
// Uploads ITK images to a device, and summarises their values.
#ifndef itkGPULoadedImage_h
#define itkGPULoadedImage_h

#include "GPURegistrationDetail/core/itkGPUKey.h"

#include "gpureg/runtime/Device.h"
#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns a summary of values of any type, computed on the host's threads. */
template <typename TPixel>
gpureg::ImageSummary
Summarize(const TPixel * values, std::int64_t count, const gpureg::ParallelFor & parallelFor)
{
  struct Part
  {
    double       minimum = std::numeric_limits<double>::max();
    double       maximum = std::numeric_limits<double>::lowest();
    double       mean = 0;
    std::int64_t notFinite = 0;
  };
  constexpr std::int64_t perTask = std::int64_t{ 1 } << 16;
  const std::int64_t     tasks = (count + perTask - 1) / perTask;
  std::vector<Part>      parts(tasks);
  parallelFor(tasks, [&](std::int64_t task) {
    Part         part;
    const double factor = 1.0 / static_cast<double>(count);
    for (std::int64_t i = task * perTask; i < std::min(count, (task + 1) * perTask); ++i)
    {
      const auto value = static_cast<double>(values[i]);
      if (std::isfinite(value))
      {
        part.minimum = std::min(part.minimum, value);
        part.maximum = std::max(part.maximum, value);
        part.mean += value * factor;
      }
      else
      {
        ++part.notFinite;
      }
    }
    parts[task] = part;
  });
  Part all;
  for (const Part & part : parts)
  {
    all.minimum = std::min(all.minimum, part.minimum);
    all.maximum = std::max(all.maximum, part.maximum);
    all.mean += part.mean;
    all.notFinite += part.notFinite;
  }
  gpureg::ImageSummary summary;
  summary.notFinite = all.notFinite;
  if (all.minimum <= all.maximum)
  {
    summary.minimum = all.minimum;
    summary.maximum = all.maximum;
    summary.mean = all.mean;
  }
  return summary;
}

/** True if images of this type can be uploaded as they are: images of floats and doubles. */
template <typename TImage>
constexpr bool IsLoadable =
  std::is_same<typename TImage::PixelType, float>::value || std::is_same<typename TImage::PixelType, double>::value;

/** Precision of the values of an image of floats or doubles. */
template <typename TImage>
constexpr gpureg::Precision PrecisionOf =
  std::is_same<typename TImage::PixelType, double>::value ? gpureg::Precision::Double : gpureg::Precision::Single;

/** Uploads an image's whole buffer, unless the device's copy is proved to be the same. */
template <typename TImage>
void
LoadImage(gpureg::LoadedImage & loaded, const TImage & image, const gpureg::ParallelFor & parallelFor)
{
  gpureg::Source source = MakeSource(image);
  // Time stamps do not count here, whatever the class trusts later: ITK reads the values themselves.
  source.isKeyTrusted = false;
  loaded.Load(source,
              PrecisionOf<TImage>,
              image.GetBufferPointer(),
              static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels()),
              parallelFor);
}

/** Summarises one of a metric's images, on a device if possible, where the image stays until it is released. */
template <typename TImage>
class LoadedImage
{
public:
  /** Returns the summary of the values at the last LookThrough(). */
  const gpureg::ImageSummary &
  GetSummary() const
  {
    return m_Summary;
  }

  /** Returns the image on the device; null if it was summarised on the host, or is released. */
  const gpureg::LoadedImage *
  Get() const
  {
    return m_Loaded.get();
  }

  /** Summarises an image that is not empty, with its current values: on the device if it can be uploaded and fits there; else on the
   *  host.
   *  \param image the image.
   *  \param device the device's name; empty for the host.
   *  \param parallelFor the threads to use. */
  void
  LookThrough(const TImage & image, const std::string & device, const gpureg::ParallelFor & parallelFor)
  {
    this->Release();
    if (IsLoadable<TImage> && !device.empty() && gpureg::HasDoubles(device))
    {
      try
      {
        this->Load(image, device, parallelFor);
        return;
      }
      catch (const gpureg::OutOfMemoryError &)
      {
        // The device's memory does not hold the image beside what is made from it.
      }
    }
    m_Summary = Summarize(image.GetBufferPointer(), CountPixels(image), parallelFor);
  }

  /** Gives up the image on the device, from which nothing more is made. */
  void
  Release()
  {
    if (m_Loaded)
    {
      m_User.Keep(std::move(m_Loaded));
    }
  }

private:
  static std::int64_t
  CountPixels(const TImage & image)
  {
    return static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
  }

  void
  Load(const TImage & image, const std::string & device, const gpureg::ParallelFor & parallelFor)
  {
    auto loaded = m_User.Take(device, gpureg::LoadedImage::KeyOf(GetBuffer(image)));
    LoadImage(*loaded, image, parallelFor);
    m_Summary = loaded->Summarize(parallelFor);
    m_Loaded = std::move(loaded);
  }

  gpureg::EngineUser<gpureg::LoadedImage> m_User;
  std::unique_ptr<gpureg::LoadedImage>    m_Loaded;
  gpureg::ImageSummary                    m_Summary;
};

} // namespace GPURegistrationDetail
} // namespace itk

#endif
