// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/StagingPool.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

namespace
{
bool
IsCounted(const StagingPointer & staging)
{
  return staging && staging->isCounted;
}

/** Rounds a size up to one of few sizes, so that waiting memory fits the next operation: a power of two up to 16 MiB, the largest chunk of
 *  a copy, or a multiple of 16 MiB. */
std::size_t
RoundUp(std::size_t bytes)
{
  constexpr std::size_t Least = std::size_t{ 64 } << 10;
  constexpr std::size_t Most = std::size_t{ 16 } << 20;
  std::size_t           size = Least;
  while (size < bytes && size < Most)
  {
    size *= 2;
  }
  return (bytes + size - 1) / size * size;
}
} // namespace

/** Holds memory that was taken out of the pool under its mutex, and frees it without the mutex. Its bytes count until then. */
class StagingPool::Dropped
{
public:
  explicit Dropped(StagingPool & pool)
    : m_Pool(pool)
  {}
  ~Dropped()
  {
    this->Free(0);
  }

  void
  Add(StagingPointer staging)
  {
    m_Bytes += staging->GetSize();
    m_Staging.push_back(std::move(staging));
  }

  std::size_t
  GetBytes() const
  {
    return m_Bytes;
  }

  /** \param reused the number of its bytes that still count afterwards, for other memory */
  void
  Free(std::size_t reused)
  {
    m_Staging.clear();
    m_Pool.Uncount(m_Bytes - std::min(reused, m_Bytes));
    m_Bytes = 0;
  }

private:
  StagingPool &               m_Pool;
  std::vector<StagingPointer> m_Staging;
  std::size_t                 m_Bytes = 0;
};

void
StagingPool::Uncount(std::size_t bytes)
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  m_PinnedBytes -= bytes;
}

StagingPool::Taken
StagingPool::Take(std::size_t bytes)
{
  const std::size_t size = RoundUp(bytes);
  Dropped           dropped(*this);
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    // The memory that was used last is most likely in the cache.
    const auto waiting = std::find_if(m_Waiting.rbegin(), m_Waiting.rend(), [size](const StagingPointer & staging) {
      return staging->GetSize() == size;
    });
    if (waiting != m_Waiting.rend())
    {
      StagingPointer staging = std::move(*waiting);
      m_Waiting.erase(std::next(waiting).base());
      return { std::move(staging), false };
    }
    // Dropping waiting memory does not help if the taken memory leaves too little within the limit.
    if (m_PinnedBytes - this->CountWaitingBytes() + size > m_Limit)
    {
      return { std::make_unique<OrdinaryStaging>(size), true };
    }
    this->DropOldest(size, dropped);
    m_PinnedBytes += size - std::min(size, dropped.GetBytes());
  }
  dropped.Free(size);
  try
  {
    StagingPointer staging = m_MakePinned(size);
    staging->isCounted = true;
    return { std::move(staging), true };
  }
  catch (const Error &)
  {
    this->Uncount(size);
  }
  catch (...)
  {
    this->Uncount(size);
    throw;
  }
  return { std::make_unique<OrdinaryStaging>(size), true };
}

void
StagingPool::GiveBack(StagingPointer staging)
{
  Dropped dropped(*this);
  if (IsCounted(staging))
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    m_Waiting.push_back(std::move(staging));
    this->DropOldest(0, dropped);
  }
}

void
StagingPool::Discard(StagingPointer staging)
{
  Dropped dropped(*this);
  if (IsCounted(staging))
  {
    dropped.Add(std::move(staging));
  }
}

void
StagingPool::Drop()
{
  Dropped                              dropped(*this);
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  for (StagingPointer & staging : m_Waiting)
  {
    dropped.Add(std::move(staging));
  }
  m_Waiting.clear();
}

void
StagingPool::SetLimit(std::size_t bytes)
{
  Dropped                              dropped(*this);
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  m_Limit = bytes;
  this->DropOldest(0, dropped);
}

std::size_t
StagingPool::GetLimit() const
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  return m_Limit;
}

std::size_t
StagingPool::GetPinnedBytes() const
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  return m_PinnedBytes;
}

std::size_t
StagingPool::CountWaitingBytes() const
{
  std::size_t bytes = 0;
  for (const StagingPointer & staging : m_Waiting)
  {
    bytes += staging->GetSize();
  }
  return bytes;
}

void
StagingPool::DropOldest(std::size_t bytes, Dropped & dropped)
{
  auto oldest = m_Waiting.begin();
  for (; oldest != m_Waiting.end() && m_PinnedBytes - dropped.GetBytes() + bytes > m_Limit; ++oldest)
  {
    dropped.Add(std::move(*oldest));
  }
  m_Waiting.erase(m_Waiting.begin(), oldest);
}

} // namespace gpureg
