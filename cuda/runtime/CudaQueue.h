// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaQueue_h
#define gpureg_CudaQueue_h

#include "cuda/runtime/CudaDeviceScope.h"
#include "cuda/runtime/CudaError.h"
#include "cuda/core/CudaPrelude.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/KernelLaunch.h"

#include <cuda_runtime.h>

#include <array>
#include <set>
#include <utility>

namespace gpureg
{

class CudaMemory : public Memory
{
public:
  CudaMemory(Backend & backend, int device, std::size_t bytes);
  /** Wraps memory of another owner, which is neither charged nor freed. */
  CudaMemory(void * address, std::size_t bytes)
    : Memory(bytes)
    , m_Address(address)
  {}
  ~CudaMemory() override;

  void *
  GetAddress() const override
  {
    return m_Address;
  }

  /** Returns the number of the device; -1 for memory of another owner. */
  int
  GetDevice() const
  {
    return m_Device;
  }

private:
  Backend * m_Backend = nullptr; // null for memory of another owner
  int       m_Device = -1;
  void *    m_Address = nullptr;
};

/** Owns pinned host memory. */
class CudaStaging : public Staging
{
public:
  /** \throws Error if there is not enough memory. */
  CudaStaging(int device, const std::string & deviceName, std::size_t bytes);
  ~CudaStaging() override;

  void *
  GetAddress() const override
  {
    return m_Address;
  }

private:
  int    m_Device;
  void * m_Address = nullptr;
};

/** Returns the array as the kernels see it, or null if there is none. */
template <typename T>
T *
AddressOf(const MemoryPointer & memory)
{
  return memory ? static_cast<T *>(static_cast<const CudaMemory &>(*memory).GetAddress()) : nullptr;
}

template <typename T>
T *
AddressIn(const Memory & memory)
{
  return static_cast<T *>(static_cast<const CudaMemory &>(memory).GetAddress());
}

/** Returns the number of groups of `lanes` lanes that have a lane for each item. */
inline dim3
CountGroups(std::int64_t items, int lanes)
{
  return dim3(static_cast<unsigned int>((items + lanes - 1) / lanes));
}

/** Returns how many lanes a group of an item kernel has at most. Items that are a task of the host each are few and long: a warp of them,
 *  so that they are spread over all multiprocessors, and may take many registers. */
constexpr int
GetMostItemLanes(std::int64_t itemsOfTask)
{
  return itemsOfTask == 1 ? 32 : 256;
}

/** Enqueues work on a stream of its own, so that queues on different host threads do not wait for each other. */
class CudaQueue : public Queue
{
public:
  CudaQueue(Backend & backend, int device);
  ~CudaQueue() override;

  std::size_t
  GetFreeMemory() override;
  void
  MarkStaging(Direction direction, int slot) override;
  void
  WaitForStaging(Direction direction, int slot) override;
  void
  MarkRead(int buffer) override;
  void
  OrderAfterUploads() override;
  void
  MarkMade(int buffer) override;
  void
  RunItems(const ItemLaunch & launch) override;
  void
  RunGroups(const GroupLaunch & launch) override;
  GroupTraits
  GetGroupTraits() const override;
  void
  Finish() override;
  void
  SetFence(int number) override;
  void
  WaitForFence(int number) override;
  void
  StartTimer() override;
  void
  StopTimer() override;
  double
  ReadTimer() override;

  /** Returns the stream, for libraries that enqueue work themselves. */
  cudaStream_t
  GetStream() const
  {
    this->CheckIsOperating();
    return m_Stream;
  }

  int
  GetDevice() const
  {
    return m_Device;
  }

  const std::string &
  GetDeviceName() const
  {
    return GetBackend().GetDescription().name;
  }

  /** Launches a kernel. Checks the status of this launch, not the thread's last error, which may be of other code. */
  template <typename... TParameters, typename... TArguments>
  void
  Launch(const char * what,
         void (*kernel)(TParameters...),
         dim3        groups,
         int         lanes,
         std::size_t localBytes,
         TArguments &&... arguments)
  {
    this->CountLaunch();
    const CudaDeviceScope scope(m_Device);
    cudaLaunchConfig_t    configuration = {};
    configuration.gridDim = groups;
    configuration.blockDim = dim3(static_cast<unsigned int>(lanes));
    configuration.dynamicSmemBytes = localBytes;
    configuration.stream = m_Stream;
    CheckCuda(cudaLaunchKernelEx(&configuration, kernel, std::forward<TArguments>(arguments)...),
              what,
              GetDeviceName());
  }

  /** Launches a kernel with one lane for each of `items` items, in groups of `lanes` lanes. */
  template <typename... TParameters, typename... TArguments>
  void
  LaunchFor(
    const char * what, void (*kernel)(TParameters...), std::int64_t items, int lanes, TArguments &&... arguments)
  {
    this->Launch(what, kernel, CountGroups(items, lanes), lanes, 0, std::forward<TArguments>(arguments)...);
  }

private:
  /** An event for which the host waits. It follows the last copy from or to a slot of staging memory, or the work before a fence. */
  struct Mark
  {
    cudaEvent_t event = nullptr;
    bool        isSet = false;
  };

  Mark &
  MarkOf(Direction direction, int slot)
  {
    return m_Marks[static_cast<int>(direction)][slot];
  }

  std::array<cudaEvent_t *, 13>
  GetEvents()
  {
    return { &m_TimerStart,        &m_TimerStop,       &m_Uploaded,          &m_Read[0],           &m_Read[1],
             &m_Made[0],           &m_Made[1],         &m_Marks[0][0].event, &m_Marks[0][1].event, &m_Marks[1][0].event,
             &m_Marks[1][1].event, &m_Fences[0].event, &m_Fences[1].event };
  }

  MemoryPointer
  DoAllocate(std::size_t bytes) override;
  void
  DoUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) override;
  void
  DoStartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer) override;
  void
  DoDownload(void * target, const Memory & source, std::size_t bytes) override;
  void
  DoStartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer) override;
  void
  DoCopy(Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes)
    override;
  void
  Release() noexcept;
  /** Launches an entry point. localBytes: of shared memory, besides what the kernel declares; parameters: pointers to its parameters */
  void
  LaunchEntry(const KernelLaunch & launch, dim3 groups, int lanes, std::size_t localBytes, void ** parameters);
  void
  CopyUp(Memory & target, std::size_t offset, const void * source, std::size_t bytes, cudaStream_t stream);
  void
  CopyDown(void * target, const Memory & source, std::size_t bytes, std::size_t offset, cudaStream_t stream);
  void
  Record(cudaEvent_t event, cudaStream_t stream);
  void
  Order(cudaStream_t stream, cudaEvent_t after);
  void
  SetMark(Mark & mark, cudaStream_t stream);
  /** Waits for a mark, if it is set, and clears it. */
  void
  WaitFor(Mark & mark, const char * what);
  /** Lets this device read another one's memory, where it can. */
  void
  EnablePeer(int device);

  int          m_Device;
  int          m_Multiprocessors = 0;
  cudaStream_t m_Stream = nullptr;
  cudaStream_t m_UpStream = nullptr; // for StartUpload and StartDownload, so that copies overlap other work
  cudaStream_t m_DownStream = nullptr;
  bool         m_IsUpStreamBusy = false;
  bool         m_IsDownStreamBusy = false;
  cudaStream_t m_LastCopy[2] = {}; // [direction]: the stream of the last copy
  cudaEvent_t  m_TimerStart = nullptr;
  cudaEvent_t  m_TimerStop = nullptr;
  cudaEvent_t  m_Uploaded = nullptr;
  cudaEvent_t  m_Read[2] = {}; // [buffer]: its slab was read by the kernels before MarkRead
  cudaEvent_t  m_Made[2] = {}; // [buffer]: its results were written by the kernels before MarkMade
  Mark         m_Marks[2][2];  // [direction][slot]
  Mark         m_Fences[2];
  // The devices for which EnablePeer() was called.
  std::set<int> m_Peers;
};

} // namespace gpureg

#endif
