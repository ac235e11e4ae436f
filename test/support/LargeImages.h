// SPDX-License-Identifier: Apache-2.0
// Images of gigabytes whose voxels' values follow from their offsets, for machines that have enough memory.
#ifndef LargeImages_h
#define LargeImages_h

#include "TestDevices.h"

#include "gpureg/core/EvaluationStatistics.h"

#include "itkImage.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace gpuregtest
{

constexpr std::uint64_t GiB = std::uint64_t{ 1 } << 30;

/** Without optimization, or under a sanitizer, each of these tests would take minutes. */
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool IsSlowBuild = true;
#else
constexpr bool IsSlowBuild = false;
#endif

/** Returns the bytes that the host has left; 0 if it does not say. */
inline std::uint64_t
GetAvailableMemory()
{
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
  {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes)
    {
      return 1024 * kibibytes;
    }
  }
  return 0;
}

/** An image that numbers its voxels modulo a prime number: an offset that is wrong by a power of two shows. */
template <typename TPixel>
class CountingImage
{
public:
  using ImageType = itk::Image<TPixel, 3>;

  explicit CountingImage(const itk::Size<3> & size)
    : m_Image(ImageType::New())
  {
    m_Image->SetRegions(size);
    m_Image->Allocate();
    const itk::SizeValueType plane = size[0] * size[1];
    std::vector<TPixel>      counts(plane + Period);
    for (std::size_t i = 0; i < counts.size(); ++i)
    {
      counts[i] = static_cast<TPixel>(i % Period);
    }
    TPixel * const voxels = m_Image->GetBufferPointer();
    itk::MultiThreaderBase::New()->ParallelizeArray(
      0,
      size[2],
      [&counts, voxels, plane](itk::SizeValueType z) {
        std::copy_n(counts.data() + z * plane % Period, plane, voxels + z * plane);
      },
      nullptr);
  }

  const ImageType *
  Get() const
  {
    return m_Image;
  }

  /** Returns the value of a voxel from its offset, without reading it. */
  double
  GetValue(const itk::Index<3> & index) const
  {
    const auto & size = m_Image->GetBufferedRegion().GetSize();
    const auto   x = static_cast<std::uint64_t>(index[0]);
    const auto   y = static_cast<std::uint64_t>(index[1]);
    const auto   z = static_cast<std::uint64_t>(index[2]);
    return static_cast<double>((x + size[0] * (y + size[1] * z)) % Period);
  }

private:
  static constexpr std::uint64_t Period = 251;

  typename ImageType::Pointer m_Image;
};

/** A test on each device that has enough memory. */
class LargeImageTest : public DeviceTest
{
protected:
  /** Returns the reason why the test cannot run here; empty if it can, besides other tests, for which a few gibibytes are left.
   *  \param hostBytes   of the images
   *  \param deviceBytes of the device's memory, which may be the same memory */
  std::string
  FindWhyNot(std::uint64_t hostBytes, std::uint64_t deviceBytes) const
  {
    if (IsSlowBuild && !std::getenv("GPUREG_TEST_LARGE"))
    {
      return "minutes without optimization or with a sanitizer: where GPUREG_TEST_LARGE=1 is set";
    }
    // OpenCL on the CPU is listed after the host.
    const auto names = GetAllDeviceNames();
    const bool isProcessor =
      std::find(names.begin(), names.end(), "host") <= std::find(names.begin(), names.end(), GetParam());
    if (isProcessor && GetParam() != "host" && !std::getenv("GPUREG_TEST_LARGE"))
    {
      return "half a minute each by OpenCL on a processor: on a GPU, or where GPUREG_TEST_LARGE=1 is set";
    }
    const std::uint64_t wanted = hostBytes + (isProcessor ? deviceBytes : 0) + 4 * GiB;
    const std::uint64_t available = GetAvailableMemory();
    return available >= wanted ? ""
                               : std::to_string(wanted >> 20) + " MiB of host memory are wanted, " +
                                   std::to_string(available >> 20) + " are available";
  }

  /** Updates a filter if the device has memory for so many bytes, and for arrays of this size. Returns the reason why not; empty if
   *  it has. */
  template <typename TFilter>
  std::string
  UpdateIfMemorySuffices(TFilter & filter, std::uint64_t deviceBytes) const
  {
    try
    {
      filter.Update();
      return {};
    }
    catch (const itk::ExceptionObject & error)
    {
      const std::string text = error.GetDescription();
      const bool        isSmall = this->GetDevice().GetMemorySize() < deviceBytes + 2 * GiB ||
                           text.find("at most in one piece (too much to ask of it)") != std::string::npos;
      if (!isSmall || text.find("out of memory on ") == std::string::npos)
      {
        throw;
      }
      return text;
    }
  }

  void
  Report(const gpureg::EvaluationStatistics & statistics) const
  {
    std::cout << this->GetDevice() << ": largest allocation " << statistics.largestArrayBytes << " bytes, all together "
              << statistics.deviceBytes << "; " << statistics.evaluateMilliseconds << " ms" << std::endl;
  }
};

} // namespace gpuregtest

#endif
