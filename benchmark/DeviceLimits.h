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

/** The limits of a device; 0 if unknown. */
struct DeviceLimits
{
  /** Counts the bytes read and the bytes written by a copy from memory to memory. */
  double copyBytesPerSecond = 0;
  /** Over the bus, from and to pinned memory; 0 if there is no bus. */
  double upBytesPerSecond = 0;
  double downBytesPerSecond = 0;
  /** Counts operations on floats; a multiply-add counts as two. */
  double flopsPerSecond = 0;
  /** The numbers from which the flops are computed. */
  std::string peak;
};

/** Returns a device's limits, measured at the first call; on the host with as many threads as ITK has then. */
const DeviceLimits &
GetLimits(const itk::GPUDevice & device);

/** Returns a table of the devices that were measured so far. */
Table
MakeLimitsTable();

// The following functions are for the files that measure, one for each kind of device.

DeviceLimits
MeasureCudaLimits(int device);

DeviceLimits
MeasureOpenCLLimits(const itk::GPUDevice & device);

/** Sets the peak of a device with this number of NVIDIA's multiprocessors. */
void
SetPeak(DeviceLimits & limits, int multiprocessors, int capabilityMajor, int capabilityMinor, double hertz);

/** Returns a size that is larger than any cache, and small compared with the memory. */
inline std::size_t
ChooseCopySize(std::size_t memory)
{
  return std::min(std::size_t{ 1 } << 30, memory / 4);
}

inline constexpr std::size_t BusCopySize = std::size_t{ 256 } << 20;

/** Returns bytes per second, the best of ten copies. \param copy returns the seconds that it took. */
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
