// SPDX-License-Identifier: Apache-2.0
#include "DeviceLimits.h"

#include "Stopwatch.h"

#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include <cstring>
#include <map>
#include <memory>

namespace bench
{

namespace
{

/** Returns the limits measured so far, by the device's name. */
std::map<std::string, DeviceLimits> &
GetMeasured()
{
  static std::map<std::string, DeviceLimits> measured;
  return measured;
}

/** Returns the multiply-adds of floats that a multiprocessor starts in each cycle, by its compute capability: CUDA C++ Programming
 *  Guide, "Throughput of Native Arithmetic Instructions". 0 if the guide does not list it. */
int
GetFloatLanes(int major, int minor)
{
  switch (major)
  {
    case 7:
      return 64;
    case 8:
      return minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 12:
      return 128;
    default:
      return 0;
  }
}

/** Measures copies from memory to memory, by all threads. */
DeviceLimits
MeasureHostLimits(const itk::GPUDevice & device)
{
  const auto         threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  const auto         parallelFor = itk::GPURegistrationDetail::MakeParallelFor(threads);
  const std::size_t  bytes = ChooseCopySize(device.GetMemorySize() / 4);
  constexpr auto     chunkBytes = std::size_t{ 1 } << 22;
  const std::int64_t chunks = static_cast<std::int64_t>(bytes / chunkBytes);
  // Not value-initialized, so that the threads touch it first.
  const std::unique_ptr<char[]> source(new char[bytes]);
  const std::unique_ptr<char[]> target(new char[bytes]);
  const auto                    forEachChunk = [&](const auto & work) {
    parallelFor(chunks, [&](std::int64_t chunk) { work(static_cast<std::size_t>(chunk) * chunkBytes); });
  };
  forEachChunk([&](std::size_t offset) { std::memset(&source[offset], 1, chunkBytes); });
  DeviceLimits limits;
  limits.copyBytesPerSecond = MeasureBandwidth(2 * chunkBytes * static_cast<std::size_t>(chunks), [&] {
    const example::Stopwatch watch;
    forEachChunk([&](std::size_t offset) { std::memcpy(&target[offset], &source[offset], chunkBytes); });
    return watch.GetSeconds();
  });
  return limits;
}

DeviceLimits
Measure(const itk::GPUDevice & device)
{
  const std::string & name = device.GetName();
#ifdef BENCH_USE_CUDA
  if (name.rfind("cuda:", 0) == 0)
  {
    return MeasureCudaLimits(std::stoi(name.substr(5)));
  }
#endif
#ifdef BENCH_USE_OPENCL
  if (name.rfind("opencl:", 0) == 0)
  {
    return MeasureOpenCLLimits(device);
  }
#endif
  return name == "host" ? MeasureHostLimits(device) : DeviceLimits{};
}

} // namespace

const DeviceLimits &
GetLimits(const itk::GPUDevice & device)
{
  auto &     measured = GetMeasured();
  const auto found = measured.find(device.GetName());
  return found != measured.end() ? found->second : measured.emplace(device.GetName(), Measure(device)).first->second;
}

Table
MakeLimitsTable()
{
  const auto format = [](double perSecond, double unit) {
    return perSecond > 0 ? Format(perSecond / unit) : Table::none;
  };
  Table table("What the devices do at most",
              { "device", "copy, GB/s", "bus up, GB/s", "bus down, GB/s", "peak, Tflop/s", "which is" });
  for (const auto & [name, limits] : GetMeasured())
  {
    table.AddRow({ name,
                   format(limits.copyBytesPerSecond, 1e9),
                   format(limits.upBytesPerSecond, 1e9),
                   format(limits.downBytesPerSecond, 1e9),
                   limits.flopsPerSecond > 0 ? format(limits.flopsPerSecond, 1e12) : "unknown",
                   limits.flopsPerSecond > 0 ? limits.peak : Table::none });
  }
  return table;
}

void
SetPeak(DeviceLimits & limits, int multiprocessors, int capabilityMajor, int capabilityMinor, double hertz)
{
  const int lanes = GetFloatLanes(capabilityMajor, capabilityMinor);
  limits.flopsPerSecond = 2.0 * multiprocessors * lanes * hertz;
  if (limits.flopsPerSecond > 0)
  {
    limits.peak = std::to_string(multiprocessors) + " multiprocessors × " + std::to_string(lanes) +
                  " multiply-adds × " + Format(hertz * 1e-9) + " GHz";
  }
}

} // namespace bench
