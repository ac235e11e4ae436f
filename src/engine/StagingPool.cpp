// SPDX-License-Identifier: Apache-2.0
#include "StagingPool.h"

#include "gpureg/Error.h"

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

/** Few sizes, so that what waits fits the next operation: powers of two up to the largest portion of a copy. */
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

void
StagingPool::Uncount(std::size_t bytes)
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  m_PinnedBytes -= bytes;
}

StagingPool::Taken
StagingPool::Take(std::size_t bytes)
{
  const std::size_t           size = RoundUp(bytes);
  std::vector<StagingPointer> dropped;
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    // The one used last is in the cache.
    const auto waiting = std::find_if(m_Waiting.rbegin(), m_Waiting.rend(), [size](const StagingPointer & staging) {
      return staging->GetSize() == size;
    });
    if (waiting != m_Waiting.rend())
    {
      StagingPointer staging = std::move(*waiting);
      m_Waiting.erase(std::next(waiting).base());
      return { std::move(staging), false };
    }
    if (size <= m_Limit)
    {
      dropped = MakeRoom(size);
    }
    if (m_PinnedBytes + size > m_Limit)
    {
      return { std::make_unique<OrdinaryStaging>(size), true };
    }
    m_PinnedBytes += size;
  }
  dropped.clear();
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
  std::vector<StagingPointer> dropped;
  if (IsCounted(staging))
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    m_Waiting.push_back(std::move(staging));
    dropped = MakeRoom(0);
  }
}

void
StagingPool::Discard(StagingPointer staging)
{
  if (IsCounted(staging))
  {
    this->Uncount(staging->GetSize());
  }
}

void
StagingPool::Drop()
{
  std::vector<StagingPointer>          dropped;
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  for (const StagingPointer & staging : m_Waiting)
  {
    m_PinnedBytes -= staging->GetSize();
  }
  dropped.swap(m_Waiting);
}

void
StagingPool::SetLimit(std::size_t bytes)
{
  std::vector<StagingPointer>          dropped;
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  m_Limit = bytes;
  dropped = MakeRoom(0);
}

std::size_t
StagingPool::GetPinnedBytes() const
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  return m_PinnedBytes;
}

std::vector<StagingPointer>
StagingPool::MakeRoom(std::size_t bytes)
{
  std::vector<StagingPointer> dropped;
  auto                        oldest = m_Waiting.begin();
  for (; oldest != m_Waiting.end() && m_PinnedBytes + bytes > m_Limit; ++oldest)
  {
    m_PinnedBytes -= (*oldest)->GetSize();
    dropped.push_back(std::move(*oldest));
  }
  m_Waiting.erase(m_Waiting.begin(), oldest);
  return dropped;
}

} // namespace gpureg
