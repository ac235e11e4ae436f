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
#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace gpureg
{

/** Device memory; freed with the object, after the work that was enqueued on it before. */
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

  /** A pointer of the device; null where memory has none. */
  virtual void *
  GetAddress() const
  {
    return nullptr;
  }

private:
  std::size_t m_Size;
};

using MemoryPointer = std::unique_ptr<Memory>;

/** Which way a copy goes. Each way has staging memory and marks of its own, so that an array can be filled while
 *  another is handed out. */
enum class Direction
{
  Up,
  Down
};

class Backend;

/** The kinds of devices that passes are written for. */
enum class DeviceKind
{
  Host,
  Cuda,
  OpenCL
};

/** An ordered stream of work on one device. What is enqueued runs after what was enqueued before, but for copies from
 *  and to buffers that change hands, so that they overlap other work: StartUpload's and StartDownload's. One thread at
 *  a time. Every member throws Error where the device reports a failure. */
class Queue
{
public:
  explicit Queue(Backend & backend);
  virtual ~Queue();
  Queue(const Queue &) = delete;
  Queue &
  operator=(const Queue &) = delete;

  /** Where there is no room, idle engines give up theirs.
   *  \throws OutOfMemoryError with what was asked for, held and free. */
  MemoryPointer
  Allocate(std::size_t bytes);

  /** Bytes that may still be allocated, as far as the device says, within this process' limit; and in one
   *  array. */
  virtual std::size_t
  GetFreeMemory() = 0;
  virtual std::size_t
  GetLargestAllocation()
  {
    return std::numeric_limits<std::size_t>::max();
  }

  /** Host memory of at least so many bytes to copy from or to, pinned if the device's StagingPool has some: two slots
   *  each way. It stays the same until it must grow, or is given back. */
  void *
  GetStaging(Direction direction, int slot, std::size_t bytes);

  /** At the end of an operation: for the next one, of this queue or another of the device. Waits for the slots'
   *  marks. */
  void
  GiveStagingBack();

  /** Enqueues a copy to the device. source must stay as it is until Finish, or until WaitForStaging of a mark behind
   *  it. */
  virtual void
  Upload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) = 0;

  /** Says that the work enqueued so far is the last to read an input buffer (0 or 1): StartUpload to it waits for that
   *  work. */
  virtual void
  MarkRead(int buffer) = 0;

  /** As Upload, to an input buffer. It waits for MarkRead of that buffer, and for nothing that was enqueued after it:
   *  the copy and that work may run at the same time, so that work must not use the buffer. */
  virtual void
  StartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer) = 0;

  /** Work that is enqueued from now on waits for the copies that StartUpload has begun so far. */
  virtual void
  OrderAfterUploads() = 0;

  /** Says that the work enqueued so far writes an output buffer (0 or 1): StartDownload from it waits for that work. */
  virtual void
  MarkMade(int buffer) = 0;

  /** Enqueues a copy to the host from an output buffer, as it is at its last MarkMade. target is valid after Finish, or
   *  after WaitForStaging of a later mark; until then nothing may write the buffer, for work that is enqueued next may
   *  run at the same time. To staging memory the copy is fast. */
  virtual void
  StartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer) = 0;

  /** Marks the last copy that way as the one that uses staging slot 0 or 1. */
  virtual void
  MarkStaging(Direction direction, int slot) = 0;

  /** Waits for the copy that a slot was marked for last, if there is one: then its memory may be used again. */
  virtual void
  WaitForStaging(Direction direction, int slot) = 0;

  /** \throws DeviceLostError if the process was forked since the queue was made. */
  void
  CheckIsUsable() const;

  /** Copies to the host and waits for it: the queue's one synchronisation an evaluation. */
  virtual void
  Download(void * target, const Memory & source, std::size_t bytes) = 0;

  /** Enqueues a copy of the first bytes of one array to another. */
  virtual void
  Copy(Memory & target, const Memory & source, std::size_t bytes) = 0;

  virtual void
  Finish() = 0;

  /** Marks the end of the work that was enqueued so far, as fence 0 or 1, and has the device begin it. */
  virtual void
  SetFence(int number) = 0;

  /** Waits for the work before a fence, if it was set since it was waited for last, and for nothing behind it. */
  virtual void
  WaitForFence(int number) = 0;

  /** Has the device begin what was enqueued, where it might wait for more. */
  virtual void
  Flush()
  {}

  virtual DeviceKind
  GetKind() const = 0;

  /** Whether all of the device's memory is the host's: then nothing is copied, and nothing overlaps a copy. */
  bool
  IsHost() const
  {
    return this->GetKind() == DeviceKind::Host;
  }

  /** Where the host can write to the memory itself; null where it must copy. */
  virtual void *
  GetHostAddress(Memory &)
  {
    return nullptr;
  }

  /** Host memory as the device's own, where the host is the device; null elsewhere. It is not freed with the Memory. */
  virtual MemoryPointer
  Wrap(void *, std::size_t)
  {
    return nullptr;
  }

  /** Times what is enqueued between the two, in milliseconds, as the device's events see it. */
  virtual void
  StartTimer() = 0;
  virtual void
  StopTimer() = 0;
  /** After Finish or Download. */
  virtual double
  ReadTimer() = 0;

  /** The host threads to work on; its caller's, set before each call. */
  ParallelFor          parallelFor;
  EvaluationStatistics statistics;
  /** The slot of staging memory that the next chunk goes up through. */
  int nextUpSlot = 0;
  /** Arrays that are to be made just so large stay if they are larger: for who goes through levels of different sizes, again and
   *  again. */
  bool keepsLargerArrays = false;
  /** Whether an operation runs: see Operate. */
  bool isOperating = false;

protected:
  Backend &
  GetBackend() const
  {
    return m_Backend;
  }

private:
  virtual MemoryPointer
  DoAllocate(std::size_t bytes) = 0;

  Backend &      m_Backend;
  StagingPointer m_Staging[2][2]; // [direction][slot]
};

/** Runs an operation on a queue: its statistics begin anew, and at the end its staging memory goes back. An operation that
 *  fails leaves that with the queue. One within another is a part of it.
 *  \throws DeviceLostError if the process was forked since the queue was made; and what work throws. */
template <typename TWork>
void
Operate(Queue & queue, const ParallelFor & parallelFor, const TWork & work)
{
  struct Running
  {
    explicit Running(bool & isOperating)
      : flag(isOperating)
    {
      flag = true;
    }
    ~Running()
    {
      flag = false;
    }
    bool & flag;
  };
  queue.CheckIsUsable();
  queue.parallelFor = parallelFor;
  if (queue.isOperating)
  {
    work();
    return;
  }
  const Running running(queue.isOperating);
  queue.statistics = {};
  work();
  queue.GiveStagingBack();
}

inline std::size_t
SizeOf(const MemoryPointer & memory)
{
  return memory ? memory->GetSize() : 0;
}

/** Whether so many of two buffers are there, each of at least so many bytes. */
inline bool
AreThere(const std::array<MemoryPointer, 2> & buffers, std::size_t count, std::size_t bytes)
{
  return SizeOf(buffers[0]) >= bytes && (count == 1 || SizeOf(buffers[1]) >= bytes);
}

/** Makes an array at least so large; what it held is lost if it was smaller. */
void
Reserve(Queue & queue, MemoryPointer & memory, std::size_t bytes);

/** Makes an array just so large, unless the queue keeps larger ones; or none of 0 bytes. */
void
ReserveExactly(Queue & queue, MemoryPointer & memory, std::size_t bytes);

/** Enqueues work; if it is to be timed, waits for it and adds its time to the statistics. */
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
    queue.statistics.kernelMilliseconds += queue.ReadTimer();
  }
}

} // namespace gpureg

#endif
