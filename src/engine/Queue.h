// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Queue_h
#define gpureg_Queue_h

#include "gpureg/Device.h"
#include "gpureg/EvaluationStatistics.h"
#include "gpureg/ParallelFor.h"

#include <array>
#include <cstddef>
#include <functional>
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

class LinePasses;
class MattesPasses;
class ResamplePasses;

/** An ordered stream of work on one device. What is enqueued runs after what was enqueued before;
 *  nothing but Finish and Download waits for it. One thread at a time.
 *  Every member throws Error where the device reports a failure. */
class Queue
{
public:
  virtual ~Queue() = default;

  /** \throws Error with what was asked for, held and free, where memory is out. */
  virtual MemoryPointer
  Allocate(std::size_t bytes) = 0;

  /** Host memory of at least so many bytes from which copies are fast, the same until it must grow. */
  virtual void *
  GetStaging(std::size_t bytes) = 0;

  /** Enqueues a copy to the device. source must stay as it is until Finish. */
  virtual void
  Upload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) = 0;

  /** Enqueues a copy to the host, to staging memory if it is to be fast. target is valid after Finish, or
   *  after WaitFor a mark behind it. */
  virtual void
  StartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset = 0) = 0;

  /** Marks the last copy of the queue as slot 0 or 1, and waits until a slot's last mark is reached: so
   *  that staging memory is used again only after it was read or written. */
  virtual void
  Mark(int slot) = 0;
  virtual void
  WaitFor(int slot) = 0;

  /** Copies to the host and waits for it: the queue's one synchronisation an evaluation. */
  virtual void
  Download(void * target, const Memory & source, std::size_t bytes) = 0;

  virtual void
  Finish() = 0;

  /** Where the host can write to the memory itself; null where it must copy. */
  virtual void *
  GetHostAddress(Memory &)
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
};

inline std::size_t
SizeOf(const MemoryPointer & memory)
{
  return memory ? memory->GetSize() : 0;
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
 *  memory. */
void
FillArray(Queue &        queue,
          Memory &       target,
          std::size_t    offset,
          std::size_t    elementSize,
          std::int64_t   count,
          const Filler & filler);

/** Hands an array of the device out, count elements from its first on, in pieces, through staging memory: while
 *  one is copied, the one before is handed out, for disjoint ranges, from several threads at once. */
void
DrainArray(Queue &                                                               queue,
           const Memory &                                                        source,
           std::size_t                                                           elementSize,
           std::int64_t                                                          count,
           const std::function<void(std::int64_t, std::int64_t, const void *)> & take);

/** Makes so many pieces on the device, each in one of two buffers of so many bytes, and hands them out in
 *  order: while one is copied and handed out, the next is made.
 *  \param make enqueues a piece's work and returns its bytes; \param take gets the piece in host memory. */
void
DrainPieces(Queue &                                                    queue,
            std::array<MemoryPointer, 2> &                             buffers,
            std::size_t                                                bytes,
            std::int64_t                                               pieces,
            const std::function<std::size_t(std::int64_t, Memory &)> & make,
            const std::function<void(std::int64_t, const void *)> &    take);

} // namespace gpureg

#endif
