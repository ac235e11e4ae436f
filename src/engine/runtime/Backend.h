// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Backend_h
#define gpureg_Backend_h

#include "gpureg/runtime/BorrowedMemory.h"

#include "engine/runtime/Fork.h"
#include "engine/runtime/IdleEngines.h"
#include "engine/runtime/Queue.h"
#include "engine/runtime/StagingPool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpureg
{

/** What a process holds on one device, and may. */
class MemoryAccount
{
public:
  /** Has so many bytes allocated by allocate(), and counts them. One request at a time: one that is being refused takes
   *  nothing from the others.
   *  \throws OutOfMemoryError with the numbers if the limit would be passed, and what allocate throws. */
  template <typename TAllocate>
  void
  Allocate(std::size_t bytes, const std::string & deviceName, const TAllocate & allocate)
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Allocating);
    CheckLimit(bytes, deviceName);
    allocate();
    inUse += bytes;
    mostInUse = std::max<std::size_t>(mostInUse, inUse);
  }

  /** So many bytes were freed. */
  void
  Release(std::size_t bytes);

  /** What is left of so many bytes, within the limit. */
  std::size_t
  GetRoom(std::size_t bytes) const;

  std::atomic<std::size_t> limit{ 0 };
  std::atomic<std::size_t> inUse{ 0 };
  /** The largest that it has been. */
  std::atomic<std::size_t> mostInUse{ 0 };

private:
  void
  CheckLimit(std::size_t bytes, const std::string & deviceName) const;

  ForkSafeMutex m_Allocating;
};

/** Best first. OpenCL on a CPU runs the GPU's kernels, but not faster than the host's own code. */
enum class DeviceRank
{
  Cuda,
  OpenCLOnGpu,
  Host,
  OpenCLOnCpu
};

/** One device of one kind. Making one initialises nothing; its first queue does. */
class Backend
{
public:
  Backend(DeviceDescription description, DeviceRank rank);
  virtual ~Backend() = default;

  const DeviceDescription &
  GetDescription() const
  {
    return m_Description;
  }

  DeviceRank
  GetRank() const
  {
    return m_Rank;
  }

  MemoryAccount &
  GetMemoryAccount()
  {
    return m_MemoryAccount;
  }

  StagingPool &
  GetStagingPool()
  {
    return m_StagingPool;
  }

  IdleEngines &
  GetIdleEngines()
  {
    return m_IdleEngines;
  }

  virtual std::unique_ptr<Queue>
  CreateQueue() = 0;

  /** Somebody else's memory, of which so many bytes are values, as the device's own. Waits until they are made.
   *  \throws BadInputError if it is not on this device, UnsupportedError if the device cannot take such over. */
  virtual MemoryPointer
  Borrow(const BorrowedMemory & from, std::size_t bytes);

  /** Whether an address is of a GPU's memory, and this device is to read it. */
  virtual bool
  Reaches(const void *) const
  {
    return false;
  }

  /** See gpureg::GetMeetingStream. */
  virtual std::uintptr_t
  GetMeetingStream()
  {
    return 0;
  }

  /** See gpureg::GetHardwareId. */
  virtual std::string
  GetHardwareId() const
  {
    return "";
  }

  /** Whether it computes in double precision. */
  virtual bool
  HasDoubles() const
  {
    return true;
  }

  /** Not so of a GPU, or of OpenCL, once the process that found it was forked. */
  bool
  IsUsable() const;
  /** \throws DeviceLostError */
  void
  CheckIsUsable() const;

private:
  /** Pinned host memory. \throws Error if there is none. */
  virtual StagingPointer
  MakePinned(std::size_t bytes) = 0;

  DeviceDescription m_Description;
  DeviceRank        m_Rank;
  unsigned int      m_ForkCount;
  MemoryAccount     m_MemoryAccount;
  StagingPool       m_StagingPool;
  IdleEngines       m_IdleEngines;
};

/** See Backend::Borrow. \throws BadInputError if there are no values, too. */
MemoryPointer
Borrow(Backend & backend, const BorrowedMemory & from);

/** For destructors of engines: in a forked process, what the parent's device has is not touched. */
template <typename TImplementation>
void
FreeUnlessForked(std::unique_ptr<TImplementation> & implementation)
{
  if (!implementation->GetBackend().IsUsable())
  {
    static_cast<void>(implementation.release());
  }
}

/** A kind's devices, and why there are none. */
struct BackendList
{
  std::vector<std::shared_ptr<Backend>> backends;
  std::vector<std::string>              complaints;
};

BackendList
FindHostBackends();
BackendList
FindCudaBackends();
BackendList
FindOpenCLBackends();

/** The first that is wanted, or null. Kinds of devices are looked for one after the other, CUDA's first. */
std::shared_ptr<Backend>
FindBackendThat(const std::function<bool(Backend &)> & isWanted);

/** Of the kinds that have been looked for. */
void
ForEachFoundBackend(const std::function<void(Backend &)> & visit);

/** \throws BadInputError if there is no such device; the message lists those there are. */
std::shared_ptr<Backend>
GetBackend(const std::string & deviceName);

} // namespace gpureg

#endif
