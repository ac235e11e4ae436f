// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Queue_h
#define gpureg_Queue_h

#include "gpureg/Device.h"
#include "gpureg/EvaluationStatistics.h"
#include "gpureg/ParallelFor.h"

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>

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

class LinePasses;
class MattesPasses;
class ResamplePasses;

/** An ordered stream of work on one device. What is enqueued runs after what was enqueued before, but for copies from
 *  and to buffers that change hands, so that they overlap other work: StartUpload's and StartDownload's. One thread at
 *  a time. Every member throws Error where the device reports a failure. */
class Queue
{
public:
  virtual ~Queue() = default;

  /** \throws Error with what was asked for, held and free, where memory is out. */
  virtual MemoryPointer
  Allocate(std::size_t bytes) = 0;

  /** Bytes that may still be allocated, as far as the device says, within this process' limit; and in one piece. */
  virtual std::size_t
  GetFreeMemory() = 0;
  virtual std::size_t
  GetLargestAllocation()
  {
    return std::numeric_limits<std::size_t>::max();
  }

  /** Host memory of at least so many bytes from which, or to which, copies are fast: two slots each way. It stays
   *  the same until it must grow. */
  virtual void *
  GetStaging(Direction direction, int slot, std::size_t bytes) = 0;

  /** Enqueues a copy to the device. source must stay as it is until Finish, or until WaitForStaging of a mark behind
   *  it. */
  virtual void
  Upload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) = 0;

  /** What was enqueued so far reads what is in an input buffer (0 or 1): StartUpload to it waits for that. */
  virtual void
  MarkRead(int buffer) = 0;

  /** Upload, to an input buffer that what was enqueued behind its last MarkRead does not use: it may run at the same
   *  time. */
  virtual void
  StartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer) = 0;

  /** What is enqueued from now on waits for StartUpload's copies so far. */
  virtual void
  OrderAfterUploads() = 0;

  /** What was enqueued so far makes what is in an output buffer (0 or 1): StartDownload from it waits for that. */
  virtual void
  MarkMade(int buffer) = 0;

  /** Enqueues a copy to the host of what was made before the buffer's last MarkMade, to staging memory if it is to be
   *  fast. target is valid after Finish, or after WaitForStaging of a mark behind it; until then source must stay as
   *  it is, since work that is enqueued next may run at the same time. */
  virtual void
  StartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer) = 0;

  /** Marks the last copy that way as staging slot 0's or 1's, and waits until a slot's last mark is reached, if there is
   *  one: so that staging memory is used again only after it was read or written. */
  virtual void
  MarkStaging(Direction direction, int slot) = 0;
  virtual void
  WaitForStaging(Direction direction, int slot) = 0;

  /** Copies to the host and waits for it: the queue's one synchronisation an evaluation. */
  virtual void
  Download(void * target, const Memory & source, std::size_t bytes) = 0;

  virtual void
  Finish() = 0;

  /** Whether all of the device's memory is the host's: then nothing is copied, and nothing overlaps a copy. */
  virtual bool
  IsHost() const
  {
    return false;
  }

  /** Where the host can write to the memory itself; null where it must copy. */
  virtual void *
  GetHostAddress(Memory &)
  {
    return nullptr;
  }

  /** Host memory as the device's own, where the host computes itself; null elsewhere. What it is of stays its owner's. */
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

  virtual std::unique_ptr<LinePasses>
  CreateLinePasses() = 0;
  virtual std::unique_ptr<MattesPasses>
  CreateMattesPasses() = 0;
  virtual std::unique_ptr<ResamplePasses>
  CreateResamplePasses() = 0;

  /** The host threads to work on; its caller's, set before each call. */
  ParallelFor          parallelFor;
  EvaluationStatistics statistics;
  /** The slot of staging memory that the next piece goes up through. */
  int nextUpSlot = 0;
};

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

/** Fills an array of the device, from a byte offset on, with count elements, in pieces, through staging
 *  memory. The last copies may still be under way when it returns. */
void
FillArray(Queue &        queue,
          Memory &       target,
          std::size_t    offset,
          std::size_t    elementSize,
          std::int64_t   count,
          const Filler & filler);

/** Fills an input buffer (0 or 1) from its first element on, while what was enqueued behind its last MarkRead still
 *  runs. What is enqueued from now on waits for it. */
void
FillBuffer(
  Queue & queue, Memory & target, int buffer, std::size_t elementSize, std::int64_t count, const Filler & filler);

/** Takes elements first … first + count - 1 from host memory; called for disjoint ranges, from several threads at
 *  once. */
using Taker = std::function<void(std::int64_t first, std::int64_t count, const void * in)>;

/** Hands an array of the device out, count elements from its first on, in pieces, through staging memory: while
 *  one is copied, the one before is handed out. */
void
DrainArray(Queue & queue, const Memory & source, std::size_t elementSize, std::int64_t count, const Taker & take);

/** An array that is made on the device so many elements at a time. */
struct ArrayInPieces
{
  std::size_t  elementSize = 0;
  std::int64_t count = 0;
  std::int64_t pieceCount = 0;
  /** 2: one piece is copied while the next is made; 1: it waits for that. */
  std::size_t bufferCount = 1;
  /** Enqueues the work that makes these elements, at the beginning of the memory. */
  std::function<void(std::int64_t first, std::int64_t count, Memory & out)> make;
  Taker                                                                     take;
  /** Where elements are to be in the end, if they need no taking: the host makes them there. Null for none. */
  void * target = nullptr;
  /** Called from the caller's thread with the number of elements that have been taken. */
  std::function<void(std::int64_t)> progress;
};

/** Makes such an array in its buffers and hands it out in order, while the next piece is made. What it calls must hand
 *  nothing out through the same queue itself. */
void
DrainPieces(Queue & queue, std::array<MemoryPointer, 2> & buffers, const ArrayInPieces & array);

} // namespace gpureg

#endif
