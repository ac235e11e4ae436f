// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_StagingPool_h
#define gpureg_StagingPool_h

#include "engine/runtime/Fork.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace gpureg
{

/** Host memory that a device copies from and to. */
class Staging
{
public:
  explicit Staging(std::size_t size)
    : m_Size(size)
  {}
  virtual ~Staging() = default;
  Staging(const Staging &) = delete;
  Staging &
  operator=(const Staging &) = delete;

  virtual void *
  GetAddress() const = 0;

  std::size_t
  GetSize() const
  {
    return m_Size;
  }

  /** True if the memory's bytes count against a pool's limit. The pool sets it. */
  bool isCounted = false;

private:
  std::size_t m_Size;
};

using StagingPointer = std::unique_ptr<Staging>;

/** Staging memory that is not pinned. */
class OrdinaryStaging : public Staging
{
public:
  explicit OrdinaryStaging(std::size_t size)
    : Staging(size)
    , m_Bytes(new char[size])
  {}

  void *
  GetAddress() const override
  {
    return m_Bytes.get();
  }

private:
  std::unique_ptr<char[]> m_Bytes;
};

/** Pools the pinned host memory of one device for all queues of this process. A queue takes what an operation needs and returns it at the
 *  end of the operation. Taken and waiting memory together are at most the limit. Beyond the limit the pool returns ordinary memory, from
 *  which copies take longer. Safe to use from several threads. */
class StagingPool
{
public:
  static constexpr std::size_t DefaultLimit = std::size_t{ 256 } << 20;

  /** \param makePinned allocates pinned memory of at least the given number of bytes, or throws Error */
  explicit StagingPool(std::function<StagingPointer(std::size_t)> makePinned)
    : m_MakePinned(std::move(makePinned))
  {}

  struct Taken
  {
    StagingPointer memory;
    bool           isNew;
  };

  /** Returns staging memory of at least the given number of bytes. */
  Taken
  Take(std::size_t bytes);

  /** Returns staging memory to the pool. No copy may use the memory any more. */
  void
  GiveBack(StagingPointer staging);

  /** Frees staging memory, as after a failed copy. */
  void
  Discard(StagingPointer staging);

  /** Frees the waiting memory. */
  void
  Drop();

  /** Sets the limit in bytes. Memory that is taken already stays taken. */
  void
  SetLimit(std::size_t bytes);
  std::size_t
  GetLimit() const;

  /** Returns the number of pinned bytes, taken and waiting. Bytes count from before they are pinned until after they are freed, so the
   *  number is never too small. */
  std::size_t
  GetPinnedBytes() const;

private:
  class Dropped;

  std::size_t
  CountWaitingBytes() const;

  /** Moves waiting memory to dropped, the oldest first, until all other pinned memory and so many further bytes are within the limit, or
   *  none waits. */
  void
  DropOldest(std::size_t bytes, Dropped & dropped);

  /** Subtracts bytes that are no longer pinned, or that were counted for an attempt to pin that failed. */
  void
  Uncount(std::size_t bytes);

  std::function<StagingPointer(std::size_t)> m_MakePinned;
  mutable ForkSafeMutex                      m_Mutex;
  std::size_t                                m_Limit = DefaultLimit;
  std::size_t                                m_PinnedBytes = 0;
  std::vector<StagingPointer>                m_Waiting;
};

} // namespace gpureg

#endif
