// SPDX-License-Identifier: Apache-2.0
#ifndef DeviceLimits_h
#define DeviceLimits_h

#include "Table.h"

#include "itkGPUDevice.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

namespace bench
{

/** What a device does at most; 0 where that is not known. */
struct DeviceLimits
{
  /** In a copy from memory to memory, bytes read and bytes written. */
  double copyBytesPerSecond = 0;
  /** Over the bus, from and to pinned memory; 0 also where there is no bus. */
  double upBytesPerSecond = 0;
  double downBytesPerSecond = 0;
  /** Of floats; a multiply-add is two. */
  double flopsPerSecond = 0;
  /** What the flops are reckoned from. */
  std::string peak;
};

/** Measured when a device is first asked for; with as many threads as are ITK's then, if it is the host. */
const DeviceLimits &
GetLimits(const itk::GPUDevice & device);

/** Of the devices that were asked for so far. */
Table
MakeLimitsTable();

// The rest is for those that measure, a file for each kind of device.

DeviceLimits
MeasureCudaLimits(int device);

DeviceLimits
MeasureOpenCLLimits(const itk::GPUDevice & device);

/** The peak of so many multiprocessors of NVIDIA's. */
void
SetPeak(DeviceLimits & limits, int multiprocessors, int capabilityMajor, int capabilityMinor, double hertz);

/** Larger than any cache, and small beside the memory. */
inline std::size_t
ChooseCopySize(std::size_t memory)
{
  return std::min(std::size_t{ 1 } << 30, memory / 4);
}

inline constexpr std::size_t BusCopySize = std::size_t{ 256 } << 20;

/** Bytes per second, the best of ten. \param copy returns the seconds that it took. */
template <typename TCopy>
double
MeasureBandwidth(std::size_t bytes, const TCopy & copy)
{
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < 10; ++n)
  {
    best = std::min<double>(best, copy());
  }
  return static_cast<double>(bytes) / best;
}

} // namespace bench

#endif
