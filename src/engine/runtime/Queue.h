// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Queue_h
#define gpureg_Queue_h

#include "gpureg/runtime/Device.h"
#include "gpureg/core/EvaluationStatistics.h"
#include "gpureg/core/ParallelFor.h"

#include "engine/runtime/StagingPool.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace gpureg
{

/** Memory of a device. The destructor frees it after the work that was enqueued before. */
class Memory
{
public:
  explicit Memory(std::size_t bytes)
    : m_Size(bytes)
  {}
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;
  Memory &
  operator=(const Memory &) = delete;

  std::size_t
  GetSize() const
  {
    return m_Size;
  }

  /** Returns a pointer of the device, or null where the device's memory has no pointers. */
  virtual void *
  GetAddress() const
  {
    return nullptr;
  }

private:
  std::size_t m_Size;
};

using MemoryPointer = std::unique_ptr<Memory>;

/** The direction of a copy. Each direction has its own staging memory and marks, so that one array can be uploaded while another one is
 *  downloaded. */
enum class Direction
{
  Up,
  Down
};

class Backend;
struct GroupLaunch;
struct ItemLaunch;

/** The kinds of devices that passes are written for. */
enum class DeviceKind
{
  Host,
  Cuda,
  OpenCL
};

/** Describes the groups of lanes that a device runs; see LaunchGroups(). */
struct GroupTraits
{
  /** The lanes of every group; 0 if each kernel has its own number. */
  int lanes;
  /** The number of groups that keeps the device busy; 0 if each pass has its own. */
  int targetGroups;
  /** The bytes of local memory that a group may have. */
  std::size_t localBytes;

  /** Returns the lanes of a kernel's groups. \param ofKernel the kernel's own number */
  int
  GetLanes(int ofKernel) const
  {
    return lanes > 0 ? lanes : ofKernel;
  }

  /** Returns how many groups keep the device busy. \param ofPass the pass' own number */
  int
  GetTargetGroups(int ofPass) const
  {
    return targetGroups > 0 ? targetGroups : ofPass;
  }
};

/** An ordered stream of work on one device. Work runs after all work that was enqueued before it. The exceptions are
 *  StartUpload() and StartDownload(): their copies overlap other work and are ordered by marks of buffers. One thread at a time may use a
 *  queue. Every member throws Error where the device reports a failure.
 *
 *  Work is enqueued, and memory allocated, only while an Operation runs: otherwise a member throws std::logic_error. In a forked child they
 *  throw DeviceLostError if the device does not work there. */
class Queue
{
public:
  explicit Queue(Backend & backend);
  virtual ~Queue();
  Queue(const Queue &) = delete;
  Queue &
  operator=(const Queue &) = delete;

  /** Allocates memory of the given number of bytes. Frees idle engines where the device is short of memory.
   *  \throws OutOfMemoryError with the numbers of bytes that were requested, are held and are free. */
  MemoryPointer
  Allocate(std::size_t bytes);

  /** Returns how many bytes can still be allocated, as the device reports it, within this process' limit. */
  virtual std::size_t
  GetFreeMemory() = 0;
  virtual std::size_t
  GetLargestAllocation()
  {
    return std::numeric_limits<std::size_t>::max();
  }

  /** Returns host memory of at least the given number of bytes for copies; pinned memory if the device's StagingPool has some. Each
   *  direction has slots 0 and 1. A slot's address changes only when the slot must grow or when an operation ends. */
  void *
  GetStaging(Direction direction, int slot, std::size_t bytes);

  /** Returns the slot of staging memory for the next chunk of an upload: slots 0 and 1 take turns. */
  int
  TakeUpSlot()
  {
    return std::exchange(m_NextUpSlot, 1 - m_NextUpSlot);
  }

  /** Enqueues a copy to the device. source must not change before Finish(), or before WaitForStaging() of a mark that was set after the
   *  copy. */
  void
  Upload(Memory & target, std::size_t offset, const void * source, std::size_t bytes);

  /** Declares that the work enqueued so far is the last that reads an input buffer (0 or 1). StartUpload() to this buffer waits for that
   *  work. */
  virtual void
  MarkRead(int buffer) = 0;

  /** Enqueues a copy to an input buffer. The copy waits for the buffer's last MarkRead(), but not for work that was enqueued after it. Such
   *  work may run at the same time as the copy, so it must not use the buffer. */
  void
  StartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer);

  /** Makes work that is enqueued from now on wait for all copies that StartUpload() has enqueued. */
  virtual void
  OrderAfterUploads() = 0;

  /** Declares that the work enqueued so far writes an output buffer (0 or 1). StartDownload() from this buffer waits for that work. */
  virtual void
  MarkMade(int buffer) = 0;

  /** Enqueues a copy of an output buffer to the host. The copy waits for the buffer's last MarkMade(). target is valid after Finish(), or
   *  after WaitForStaging() of a mark that was set after the copy. Until then no work may write the buffer, because work that is enqueued
   *  next may run at the same time. The copy is fast if target is staging memory. */
  void
  StartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer);

  /** Marks the last copy of a direction as the one that uses staging slot 0 or 1. */
  virtual void
  MarkStaging(Direction direction, int slot) = 0;

  /** Waits for the copy that MarkStaging() marked last for a slot, if there is one. Afterwards the slot's memory may be used again. */
  virtual void
  WaitForStaging(Direction direction, int slot) = 0;

  /** Throws if the process was forked since the queue was made and the device does not work in a child. \throws DeviceLostError */
  void
  CheckIsUsable() const;

  /** Copies to the host and waits for the copy. An evaluation does this once. */
  void
  Download(void * target, const Memory & source, std::size_t bytes);

  /** Enqueues a copy of the first bytes of source to target. */
  void
  Copy(Memory & target, const Memory & source, std::size_t bytes)
  {
    this->CopyBytes(target, 0, source, 0, bytes);
  }

  /** Enqueues a copy of bytes of source, from a first one on, to target. source may be of another device of the same kind, but for
   *  OpenCL; no work that writes it may be under way there. */
  void
  CopyBytes(
    Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes);

  /** Enqueues an item kernel for at least one item; see ForEachItem(). */
  virtual void
  RunItems(const ItemLaunch & launch) = 0;

  /** Enqueues a group kernel for at least one group; see LaunchGroups(). */
  virtual void
  RunGroups(const GroupLaunch & launch) = 0;

  /** Compiles or loads a group kernel, so that RunGroups() does not; see PrepareGroups(). */
  virtual void
  PrepareGroups(const GroupLaunch &)
  {}

  /** Describes the device's groups. \throws std::logic_error on the host, which has none */
  virtual GroupTraits
  GetGroupTraits() const = 0;

  virtual void
  Finish() = 0;

  /** Sets fence 0 or 1 behind the work that was enqueued so far, and makes the device begin that work. */
  virtual void
  SetFence(int number) = 0;

  /** Waits for the work before a fence, but not for work behind it. Does nothing if the fence was not set since the last wait for it. */
  virtual void
  WaitForFence(int number) = 0;

  /** Makes the device begin the enqueued work, where the device might wait for more. */
  virtual void
  Flush()
  {}

  DeviceKind
  GetKind() const;

  /** Returns true if the device's memory is the host's memory. Then nothing is copied, and nothing overlaps a copy. */
  bool
  IsHost() const
  {
    return this->GetKind() == DeviceKind::Host;
  }

  /** Returns the address at which the host can write to the memory, or null where the host must copy. */
  virtual void *
  GetHostAddress(Memory &)
  {
    return nullptr;
  }

  /** Returns host memory as memory of the device where the host is the device; otherwise null. The destructor of the result does not free
   *  the host memory. */
  virtual MemoryPointer
  Wrap(void *, std::size_t)
  {
    return nullptr;
  }

  /** Starts and stops the timer, which measures the time that the work enqueued between both calls takes on the device. */
  virtual void
  StartTimer() = 0;
  virtual void
  StopTimer() = 0;
  /** Returns the measured time in milliseconds. To be called after Finish() or Download(). */
  virtual double
  ReadTimer() = 0;

  /** Returns the host threads of the operation that runs. */
  const ParallelFor &
  GetParallelFor() const
  {
    this->CheckIsOperating();
    return m_ParallelFor;
  }

  /** Calls work(0) … work(count - 1) on the host threads of the operation that runs. */
  void
  ForEachTask(std::int64_t count, const std::function<void(std::int64_t)> & work) const
  {
    this->GetParallelFor()(count, work);
  }

  /** Counts launches that passes are about to enqueue. */
  void
  CountLaunch(int launches = 1)
  {
    this->CheckIsOperating();
    m_Statistics.launches += launches;
  }

  /** Adds the time that ReadTimer() returned to the statistics. */
  void
  CountKernelTime(double milliseconds)
  {
    m_Statistics.kernelMilliseconds += milliseconds;
  }

  /** Sets the bytes that the queue's owner holds on the device, and those of its largest array, in the statistics. */
  void
  SetHeldBytes(std::size_t bytes, std::size_t largest = 0)
  {
    m_Statistics.deviceBytes = static_cast<std::int64_t>(bytes);
    m_Statistics.largestArrayBytes = static_cast<std::int64_t>(largest);
  }

  /** Returns the statistics of the last operation, or of the one that runs. */
  const EvaluationStatistics &
  GetStatistics() const
  {
    return m_Statistics;
  }

  /** Makes ReserveExactly() keep an array that is larger than requested. For owners that repeatedly go through levels of different
   *  sizes. */
  void
  KeepLargerArrays()
  {
    m_KeepsLargerArrays = true;
  }
  bool
  KeepsLargerArrays() const
  {
    return m_KeepsLargerArrays;
  }

  Backend &
  GetBackend() const
  {
    return m_Backend;
  }

protected:
  /** \throws std::logic_error if no operation runs, DeviceLostError as CheckIsUsable() does */
  void
  CheckIsOperating() const;

  void
  CountSynchronization()
  {
    ++m_Statistics.synchronizations;
  }

private:
  friend class Operation;

  virtual MemoryPointer
  DoAllocate(std::size_t bytes) = 0;
  virtual void
  DoUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) = 0;
  virtual void
  DoStartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer) = 0;
  virtual void
  DoStartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer) = 0;
  virtual void
  DoDownload(void * target, const Memory & source, std::size_t bytes) = 0;
  virtual void
  DoCopy(
    Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes) = 0;

  /** Counts a copy that is about to be enqueued, unless the device's memory is the host's. */
  void
  CountCopy(Direction direction, std::size_t bytes);
  /** Returns the staging memory to the device's pool. Waits for the marks of all slots. */
  void
  GiveStagingBack();

  Backend &            m_Backend;
  StagingPointer       m_Staging[2][2]; // [direction][slot]
  EvaluationStatistics m_Statistics;
  ParallelFor          m_ParallelFor;
  int                  m_NextUpSlot = 0;
  bool                 m_KeepsLargerArrays = false;
  bool                 m_IsOperating = false;
};

inline std::size_t
SizeOf(const MemoryPointer & memory)
{
  return memory ? memory->GetSize() : 0;
}

/** Returns true if the first count buffers (1 or 2) exist and each has at least the given number of bytes. */
inline bool
AreThere(const std::array<MemoryPointer, 2> & buffers, std::size_t count, std::size_t bytes)
{
  return SizeOf(buffers[0]) >= bytes && (count == 1 || SizeOf(buffers[1]) >= bytes);
}

/** Makes an array at least the given number of bytes large. The contents are lost if the array was smaller. */
void
Reserve(Queue & queue, MemoryPointer & memory, std::size_t bytes);

/** Makes an array exactly the given number of bytes large, or frees it for 0 bytes. A larger array stays after the queue's
 *  KeepLargerArrays(). */
void
ReserveExactly(Queue & queue, MemoryPointer & memory, std::size_t bytes);

/** Calls work, which enqueues on the queue. If isTimed is true, waits for the work and adds its time to the statistics. */
template <typename TWork>
void
Enqueue(Queue & queue, bool isTimed, const TWork & work)
{
  if (isTimed)
  {
    queue.Finish();
    queue.StartTimer();
  }
  work();
  if (isTimed)
  {
    queue.StopTimer();
    queue.Finish();
    queue.CountKernelTime(queue.ReadTimer());
  }
}

} // namespace gpureg

#endif
