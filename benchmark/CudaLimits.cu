// SPDX-License-Identifier: Apache-2.0
// The limits of a CUDA device: copies timed by its own events, and the peak from the driver's description.
#include "DeviceLimits.h"

#include <cuda_runtime.h>

#include <memory>
#include <stdexcept>

namespace bench
{

namespace
{

void
Check(cudaError_t status, const char * what)
{
  if (status != cudaSuccess)
  {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

struct FreeMemory
{
  void
  operator()(void * address) const
  {
    cudaFree(address);
  }
};

struct FreePinned
{
  void
  operator()(void * address) const
  {
    cudaFreeHost(address);
  }
};

using DeviceMemory = std::unique_ptr<void, FreeMemory>;
using PinnedMemory = std::unique_ptr<void, FreePinned>;

DeviceMemory
Allocate(std::size_t bytes)
{
  void * address = nullptr;
  Check(cudaMalloc(&address, bytes), "cudaMalloc");
  // Written before it is read, so that the memory is allocated.
  DeviceMemory memory(address);
  Check(cudaMemset(address, 1, bytes), "cudaMemset");
  return memory;
}

PinnedMemory
AllocatePinned(std::size_t bytes)
{
  void * address = nullptr;
  Check(cudaHostAlloc(&address, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  return PinnedMemory(address);
}

struct Event
{
  Event()
  {
    Check(cudaEventCreate(&handle), "cudaEventCreate");
  }
  ~Event()
  {
    cudaEventDestroy(handle);
  }
  Event(const Event &) = delete;
  Event &
  operator=(const Event &) = delete;

  cudaEvent_t handle = nullptr;
};

/** Returns the seconds that a copy takes. */
double
TimeCopy(void * target, const void * source, std::size_t bytes, cudaMemcpyKind kind)
{
  const Event start, stop;
  float       milliseconds = 0;
  Check(cudaEventRecord(start.handle), "cudaEventRecord");
  Check(cudaMemcpyAsync(target, source, bytes, kind, nullptr), "cudaMemcpyAsync");
  Check(cudaEventRecord(stop.handle), "cudaEventRecord");
  Check(cudaEventSynchronize(stop.handle), "cudaEventSynchronize");
  Check(cudaEventElapsedTime(&milliseconds, start.handle, stop.handle), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

int
GetAttribute(cudaDeviceAttr attribute, int device)
{
  int value = 0;
  Check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

} // namespace

DeviceLimits
MeasureCudaLimits(int device)
{
  Check(cudaSetDevice(device), "cudaSetDevice");
  std::size_t free = 0, total = 0;
  Check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const std::size_t  bytes = ChooseCopySize(free);
  const std::size_t  busBytes = std::min(bytes, BusCopySize);
  const DeviceMemory source = Allocate(bytes), target = Allocate(bytes);
  const PinnedMemory pinned = AllocatePinned(busBytes);
  const auto         measure = [](std::size_t moved, void * to, const void * from, std::size_t size, auto kind) {
    return MeasureBandwidth(moved, [=] { return TimeCopy(to, from, size, kind); });
  };
  DeviceLimits limits;
  limits.copyBytesPerSecond = measure(2 * bytes, target.get(), source.get(), bytes, cudaMemcpyDeviceToDevice);
  limits.upBytesPerSecond = measure(busBytes, target.get(), pinned.get(), busBytes, cudaMemcpyHostToDevice);
  limits.downBytesPerSecond = measure(busBytes, pinned.get(), source.get(), busBytes, cudaMemcpyDeviceToHost);
  SetPeak(limits,
          GetAttribute(cudaDevAttrMultiProcessorCount, device),
          GetAttribute(cudaDevAttrComputeCapabilityMajor, device),
          GetAttribute(cudaDevAttrComputeCapabilityMinor, device),
          1e3 * GetAttribute(cudaDevAttrClockRate, device));
  return limits;
}

} // namespace bench
