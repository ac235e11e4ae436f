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

/** Counts the bytes that this process has allocated on one device, and holds the limit of that number. */
class MemoryAccount
{
public:
  /** Calls allocate(), which allocates the given number of bytes, and counts them. Requests run one at a time, so that a request that is
   *  being refused takes no memory from another one.
   *  \throws OutOfMemoryError with the numbers if the limit would be exceeded, and what allocate throws. */
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

  /** Counts the given number of bytes as freed. */
  void
  Release(std::size_t bytes);

  /** Returns how many bytes may still be allocated on a device of the given size, in bytes, within the limit. */
  std::size_t
  GetAvailableBytes(std::size_t bytes) const;

  std::atomic<std::size_t> limit{ 0 };
  std::atomic<std::size_t> inUse{ 0 };
  /** The largest value of inUse so far. */
  std::atomic<std::size_t> mostInUse{ 0 };

private:
  void
  CheckLimit(std::size_t bytes, const std::string & deviceName) const;

  ForkSafeMutex m_Allocating;
};

/** Ranks devices, the best first. OpenCL on a CPU runs the GPU's kernels, but no faster than the host's own code. */
enum class DeviceRank
{
  Cuda,
  OpenCLOnGpu,
  Host,
  OpenCLOnCpu
};

/** Represents one device. Its constructor initialises nothing on the device; the first queue does. */
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

  DeviceKind
  GetKind() const;

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

  /** Returns another library's memory as memory of this device, after waiting for its producer. \param bytes the size of its values
   *  \throws BadInputError if the memory is not on this device, UnsupportedError if the device cannot read such memory. */
  virtual MemoryPointer
  Borrow(const BorrowedMemory & from, std::size_t bytes);

  /** Returns true if the address belongs to a GPU's memory and this device reads it. */
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

  /** Returns the version of the driver as the driver writes it; empty for the host and for CUDA. */
  virtual std::string
  GetDriverVersion() const
  {
    return "";
  }

  /** Returns true if the device computes in double precision. */
  virtual bool
  HasDoubles() const
  {
    return true;
  }

  /** Returns false for a GPU, and for OpenCL, in a process that was forked after the device was found. */
  bool
  IsUsable() const;
  /** Throws if IsUsable() returns false. \throws DeviceLostError */
  void
  CheckIsUsable() const;

private:
  /** Allocates pinned host memory of at least the given number of bytes. \throws Error if that fails. */
  virtual StagingPointer
  MakePinned(std::size_t bytes) = 0;

  DeviceDescription m_Description;
  DeviceRank        m_Rank;
  unsigned int      m_ForkCount;
  MemoryAccount     m_MemoryAccount;
  StagingPool       m_StagingPool;
  IdleEngines       m_IdleEngines;
};

/** Calls backend.Borrow() for a whole array. \throws BadInputError also if the array has no values. */
MemoryPointer
Borrow(Backend & backend, const BorrowedMemory & from);

/** Releases an engine's implementation without freeing it if the process was forked, because a child must not touch the parent's device.
 *  For destructors of engines. */
template <typename TImplementation>
void
FreeUnlessForked(std::unique_ptr<TImplementation> & implementation)
{
  if (!implementation->GetBackend().IsUsable())
  {
    static_cast<void>(implementation.release());
  }
}

/** Lists the devices of one kind, and the reasons why others are missing. */
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

/** Returns the first device for which isWanted returns true, or null. Searches one kind of device after another, CUDA first. */
std::shared_ptr<Backend>
FindBackendThat(const std::function<bool(Backend &)> & isWanted);

/** Calls visit for each device of the kinds that have been searched for so far. */
void
ForEachFoundBackend(const std::function<void(Backend &)> & visit);

/** Returns the device of a name. \throws BadInputError if there is none; the message lists the devices that exist. */
std::shared_ptr<Backend>
GetBackend(const std::string & deviceName);

} // namespace gpureg

#endif
