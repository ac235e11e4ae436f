// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/CudaQueue.h"

#include "engine/runtime/KernelLaunch.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
/** Waits for a tenth of a millisecond. */
__global__ void
WaitKernel()
{
  constexpr unsigned long long Nanoseconds = 100000;
  const auto                   now = [] {
    unsigned long long time = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  for (const unsigned long long start = now(); now() - start < Nanoseconds;)
  {
    __nanosleep(1000);
  }
}

/** Releases objects in destructors, on a device that may be gone. Clears the errors of its own calls, but no earlier error of other
 *  code.
 *  \param release releases the objects, and passes the status of each call to the function that it is given. */
template <typename TRelease>
void
WithDevice(int device, const TRelease & release) noexcept
{
  bool hasFailed = false;
  try
  {
    const CudaDeviceScope scope(device);
    release([&hasFailed](cudaError_t status) { hasFailed = hasFailed || status != cudaSuccess; });
  }
  catch (...)
  {}
  if (hasFailed)
  {
    cudaGetLastError();
  }
}
} // namespace

CudaMemory::CudaMemory(Backend & backend, int device, std::size_t bytes)
  : Memory(bytes)
  , m_Backend(&backend)
  , m_Device(device)
{
  const std::string &   name = backend.GetDescription().name;
  const CudaDeviceScope scope(device);
  backend.GetMemoryAccount().Allocate(bytes, name, [&] {
    const cudaError_t status = cudaMalloc(&m_Address, bytes);
    std::size_t       free = 0;
    std::size_t       total = 0;
    if (status == cudaErrorMemoryAllocation && cudaMemGetInfo(&free, &total) == cudaSuccess)
    {
      cudaGetLastError();
      throw OutOfMemoryError("out of memory on " + name + ": " + std::to_string(bytes) + " bytes asked for, " +
                             std::to_string(free) + " of " + std::to_string(total) + " free, " +
                             std::to_string(backend.GetMemoryAccount().inUse) +
                             " held by this process; use smaller images or another device");
    }
    CheckCuda(status, "allocating memory", name);
  });
}

CudaMemory::~CudaMemory()
{
  if (m_Backend)
  {
    WithDevice(m_Device, [this](const auto & note) { note(cudaFree(m_Address)); });
    m_Backend->GetMemoryAccount().Release(GetSize());
  }
}

CudaStaging::CudaStaging(int device, const std::string & deviceName, std::size_t bytes)
  : Staging(bytes)
  , m_Device(device)
{
  const CudaDeviceScope scope(device);
  CheckCuda(cudaHostAlloc(&m_Address, bytes, cudaHostAllocDefault), "allocating pinned memory", deviceName);
}

CudaStaging::~CudaStaging()
{
  WithDevice(m_Device, [this](const auto & note) { note(cudaFreeHost(m_Address)); });
}

CudaQueue::CudaQueue(Backend & backend, int device)
  : Queue(backend)
  , m_Device(device)
{
  RetainCudaContext(device);
  const CudaDeviceScope scope(device);
  try
  {
    CheckCuda(cudaDeviceGetAttribute(&m_Multiprocessors, cudaDevAttrMultiProcessorCount, device),
              "counting multiprocessors",
              GetDeviceName());
    for (cudaStream_t * stream : { &m_Stream, &m_UpStream, &m_DownStream })
    {
      CheckCuda(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "making a stream", GetDeviceName());
    }
    for (cudaEvent_t * event : GetEvents())
    {
      const bool isTimer = event == &m_TimerStart || event == &m_TimerStop;
      CheckCuda(cudaEventCreateWithFlags(event, isTimer ? cudaEventDefault : cudaEventDisableTiming),
                "making an event",
                GetDeviceName());
    }
  }
  catch (...)
  {
    Release();
    throw;
  }
}

CudaQueue::~CudaQueue()
{
  Release();
}

void
CudaQueue::Release() noexcept
{
  WithDevice(m_Device, [this](const auto & note) {
    for (cudaStream_t stream : { m_Stream, m_UpStream, m_DownStream })
    {
      if (stream)
      {
        note(cudaStreamSynchronize(stream));
        note(cudaStreamDestroy(stream));
      }
    }
    for (const cudaEvent_t * event : GetEvents())
    {
      if (*event)
      {
        note(cudaEventDestroy(*event));
      }
    }
  });
}

MemoryPointer
CudaQueue::DoAllocate(std::size_t bytes)
{
  return std::make_unique<CudaMemory>(GetBackend(), m_Device, bytes);
}

std::size_t
CudaQueue::GetFreeMemory()
{
  const CudaDeviceScope scope(m_Device);
  std::size_t           free = 0;
  std::size_t           total = 0;
  CheckCuda(cudaMemGetInfo(&free, &total), "asking for free memory", GetDeviceName());
  return std::min(free, GetBackend().GetMemoryAccount().GetAvailableBytes(total));
}

void
CudaQueue::CopyUp(Memory & target, std::size_t offset, const void * source, std::size_t bytes, cudaStream_t stream)
{
  const CudaDeviceScope scope(m_Device);
  char * const          address = static_cast<char *>(static_cast<CudaMemory &>(target).GetAddress()) + offset;
  CheckCuda(cudaMemcpyAsync(address, source, bytes, cudaMemcpyHostToDevice, stream),
            "copying to the device",
            GetDeviceName());
  m_LastCopy[static_cast<int>(Direction::Up)] = stream;
}

void
CudaQueue::DoUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes)
{
  CopyUp(target, offset, source, bytes, m_Stream);
}

void
CudaQueue::MarkStaging(Direction direction, int slot)
{
  SetMark(MarkOf(direction, slot), m_LastCopy[static_cast<int>(direction)]);
}

void
CudaQueue::WaitForStaging(Direction direction, int slot)
{
  WaitFor(MarkOf(direction, slot), "waiting for a copy");
}

void
CudaQueue::SetFence(int number)
{
  SetMark(m_Fences[number], m_Stream);
}

void
CudaQueue::WaitForFence(int number)
{
  WaitFor(m_Fences[number], "computing");
}

void
CudaQueue::SetMark(Mark & mark, cudaStream_t stream)
{
  Record(mark.event, stream);
  mark.isSet = true;
}

void
CudaQueue::WaitFor(Mark & mark, const char * what)
{
  if (std::exchange(mark.isSet, false))
  {
    const CudaDeviceScope scope(m_Device);
    CountSynchronization();
    CheckCuda(cudaEventSynchronize(mark.event), what, GetDeviceName());
  }
}

void
CudaQueue::CopyDown(void * target, const Memory & source, std::size_t bytes, std::size_t offset, cudaStream_t stream)
{
  const CudaDeviceScope scope(m_Device);
  const char * const    address = static_cast<char *>(static_cast<const CudaMemory &>(source).GetAddress()) + offset;
  CheckCuda(cudaMemcpyAsync(target, address, bytes, cudaMemcpyDeviceToHost, stream),
            "copying from the device",
            GetDeviceName());
  m_LastCopy[static_cast<int>(Direction::Down)] = stream;
}

void
CudaQueue::Record(cudaEvent_t event, cudaStream_t stream)
{
  const CudaDeviceScope scope(m_Device);
  CheckCuda(cudaEventRecord(event, stream), "recording an event", GetDeviceName());
}

void
CudaQueue::Order(cudaStream_t stream, cudaEvent_t after)
{
  const CudaDeviceScope scope(m_Device);
  CheckCuda(cudaStreamWaitEvent(stream, after, 0), "ordering a stream", GetDeviceName());
}

void
CudaQueue::MarkRead(int buffer)
{
  Record(m_Read[buffer], m_Stream);
}

void
CudaQueue::DoStartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer)
{
  m_IsUpStreamBusy = true;
  Order(m_UpStream, m_Read[buffer]);
  CopyUp(target, offset, source, bytes, m_UpStream);
}

void
CudaQueue::OrderAfterUploads()
{
  Record(m_Uploaded, m_UpStream);
  Order(m_Stream, m_Uploaded);
}

void
CudaQueue::MarkMade(int buffer)
{
  Record(m_Made[buffer], m_Stream);
}

void
CudaQueue::DoStartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer)
{
  m_IsDownStreamBusy = true;
  Order(m_DownStream, m_Made[buffer]);
  CopyDown(target, source, bytes, offset, m_DownStream);
}

void
CudaQueue::DoDownload(void * target, const Memory & source, std::size_t bytes)
{
  CopyDown(target, source, bytes, 0, m_Stream);
  Finish();
}

void
CudaQueue::DoCopy(
  Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes)
{
  const CudaDeviceScope scope(m_Device);
  char * const          to = AddressIn<char>(target) + targetFirst;
  const char * const    from = AddressIn<const char>(source) + sourceFirst;
  const int             device = static_cast<const CudaMemory &>(source).GetDevice();
  const bool            isOfPeer = device >= 0 && device != m_Device;
  if (isOfPeer)
  {
    EnablePeer(device);
  }
  CheckCuda(isOfPeer ? cudaMemcpyPeerAsync(to, m_Device, from, device, bytes, m_Stream)
                     : cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, m_Stream),
            isOfPeer ? "copying from another GPU" : "copying on the device",
            GetDeviceName());
}

void
CudaQueue::EnablePeer(int device)
{
  if (!m_Peers.insert(device).second)
  {
    return;
  }
  // Other code may have enabled it. Without access, which a GPU has to a few others at most, the driver copies through the host.
  int canRead = 0;
  CheckCuda(cudaDeviceCanAccessPeer(&canRead, m_Device, device), "looking for another GPU", GetDeviceName());
  if (canRead != 0 && cudaDeviceEnablePeerAccess(device, 0) != cudaSuccess)
  {
    cudaGetLastError();
  }
}

void
CudaQueue::RunItems(const ItemLaunch & launch)
{
  // Give each multiprocessor a group, also if there are few items, but no group less than a warp.
  int lanes = GetMostItemLanes(launch.itemsOfTask);
  while (lanes > 32 && launch.count < std::int64_t{ m_Multiprocessors } * lanes)
  {
    lanes /= 2;
  }
  std::int64_t count = launch.count;
  void *       parameters[MostKernelArguments + 1] = { &count };
  for (std::size_t n = 0; n < launch.argumentCount; ++n)
  {
    parameters[n + 1] = const_cast<void *>(launch.arguments[n].value);
  }
  this->LaunchEntry(launch, CountGroups(count, lanes), lanes, 0, parameters);
}

void
CudaQueue::RunGroups(const GroupLaunch & launch)
{
  if (!launch.cudaEntry)
  {
    throw std::logic_error(std::string("no variant of the kernel has these constants: ") + launch.name);
  }
  // Only what follows the constants is passed: the constants are compiled into the entry point.
  void * parameters[MostKernelArguments] = {};
  for (std::size_t n = launch.constantCount; n < launch.argumentCount; ++n)
  {
    parameters[n - launch.constantCount] = const_cast<void *>(launch.arguments[n].value);
  }
  const dim3        groups(static_cast<unsigned int>(launch.groups[0]),
                    static_cast<unsigned int>(launch.groups[1]),
                    static_cast<unsigned int>(launch.groups[2]));
  const std::size_t localBytes = launch.isLocalOfLaunch ? launch.localBytes : 0;
  this->LaunchEntry(launch, groups, launch.lanes, localBytes, parameters);
}

GroupTraits
CudaQueue::GetGroupTraits() const
{
  // A launch has so much local memory without asking for more.
  return { 0, 0, std::size_t{ 48 } << 10 };
}

void
CudaQueue::LaunchEntry(const KernelLaunch & launch, dim3 groups, int lanes, std::size_t localBytes, void ** parameters)
{
  this->CountLaunch();
  const CudaDeviceScope scope(m_Device);
  CheckCuda(cudaLaunchKernel(
              launch.cudaEntry, groups, dim3(static_cast<unsigned int>(lanes)), parameters, localBytes, m_Stream),
            launch.doing,
            GetDeviceName());
}

void
CudaQueue::Finish()
{
  const CudaDeviceScope scope(m_Device);
  CountSynchronization();
  CheckCuda(cudaStreamSynchronize(m_Stream), "computing", GetDeviceName());
  if (std::exchange(m_IsUpStreamBusy, false))
  {
    CheckCuda(cudaStreamSynchronize(m_UpStream), "copying to the device", GetDeviceName());
  }
  if (std::exchange(m_IsDownStreamBusy, false))
  {
    CheckCuda(cudaStreamSynchronize(m_DownStream), "copying from the device", GetDeviceName());
  }
}

void
CudaQueue::StartTimer()
{
  const CudaDeviceScope scope(m_Device);
  // This kernel holds the stream until the timed work is enqueued. Otherwise the time of enqueuing would be measured, too: for a short
  // kernel a third of the total.
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(1);
  configuration.blockDim = dim3(1);
  configuration.stream = m_Stream;
  CheckCuda(cudaLaunchKernelEx(&configuration, WaitKernel), "waiting", GetDeviceName());
  Record(m_TimerStart, m_Stream);
}

void
CudaQueue::StopTimer()
{
  Record(m_TimerStop, m_Stream);
}

double
CudaQueue::ReadTimer()
{
  const CudaDeviceScope scope(m_Device);
  float                 milliseconds = 0;
  CheckCuda(cudaEventElapsedTime(&milliseconds, m_TimerStart, m_TimerStop), "reading a timer", GetDeviceName());
  return milliseconds;
}

} // namespace gpureg
