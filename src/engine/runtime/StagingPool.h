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

/** Host memory that a device copies from or to. */
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

  /** Whether its bytes count against a pool's limit: the pool says so. */
  bool isCounted = false;

private:
  std::size_t m_Size;
};

using StagingPointer = std::unique_ptr<Staging>;

/** Staging memory in ordinary memory. */
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

/** The pinned host memory of one device in this process, for all its queues: one takes what an operation needs, and
 *  gives it back at its end. What is taken and what waits here are at most the limit together. Beyond it there is
 *  ordinary memory, from which copies take longer. Safe to use from several threads. */
class StagingPool
{
public:
  static constexpr std::size_t DefaultLimit = std::size_t{ 256 } << 20;

  /** makePinned makes pinned memory of at least so many bytes, or throws Error. */
  explicit StagingPool(std::function<StagingPointer(std::size_t)> makePinned)
    : m_MakePinned(std::move(makePinned))
  {}

  struct Taken
  {
    StagingPointer memory;
    bool           isNew;
  };

  /** Staging memory of at least so many bytes. */
  Taken
  Take(std::size_t bytes);

  /** No copy may read or write it any more. */
  void
  GiveBack(StagingPointer staging);

  /** Frees it, as after a failed copy. */
  void
  Discard(StagingPointer staging);

  /** Frees what waits. */
  void
  Drop();

  /** In bytes. What is taken already stays. */
  void
  SetLimit(std::size_t bytes);
  std::size_t
  GetLimit() const;

  /** Pinned bytes, taken and waiting; never fewer than there are, for they count from before they are pinned until they are
   *  freed. */
  std::size_t
  GetPinnedBytes() const;

private:
  class Dropped;

  std::size_t
  CountWaitingBytes() const;

  /** Takes waiting memory out until so many more bytes are within the limit, or none waits: the oldest first. */
  void
  MakeRoom(std::size_t bytes, Dropped & dropped);

  /** What is no longer pinned, or was counted before it was pinned, and was not. */
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
