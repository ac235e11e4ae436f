// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Queue.h"

#include "engine/runtime/Backend.h"

#include <algorithm>
#include <utility>

namespace gpureg
{

Queue::Queue(Backend & backend)
  : m_Backend(backend)
{}

Queue::~Queue()
{
  for (auto & slots : m_Staging)
  {
    for (StagingPointer & staging : slots)
    {
      m_Backend.GetStagingPool().Discard(std::move(staging));
    }
  }
}

MemoryPointer
Queue::Allocate(std::size_t bytes)
{
  ++statistics.allocations;
  IdleEngines & idle = m_Backend.GetIdleEngines();
  for (;;)
  {
    const std::uint64_t frees = idle.CountFrees();
    try
    {
      return DoAllocate(bytes);
    }
    catch (const OutOfMemoryError &)
    {
      // Memory that another thread has freed since helps as much as memory that this thread frees.
      if (!idle.DropAll() && idle.CountFrees() == frees)
      {
        throw;
      }
    }
  }
}

void *
Queue::GetStaging(Direction direction, int slot, std::size_t bytes)
{
  StagingPointer & staging = m_Staging[static_cast<int>(direction)][slot];
  if (staging && staging->GetSize() < bytes)
  {
    Finish();
    m_Backend.GetStagingPool().GiveBack(std::move(staging));
  }
  if (!staging)
  {
    StagingPool::Taken taken = m_Backend.GetStagingPool().Take(bytes);
    statistics.allocations += taken.isNew ? 1 : 0;
    staging = std::move(taken.memory);
  }
  return staging->GetAddress();
}

void
Queue::GiveStagingBack()
{
  for (const Direction direction : { Direction::Up, Direction::Down })
  {
    for (const int slot : { 0, 1 })
    {
      if (StagingPointer & staging = m_Staging[static_cast<int>(direction)][slot])
      {
        WaitForStaging(direction, slot);
        m_Backend.GetStagingPool().GiveBack(std::move(staging));
      }
    }
  }
}

void
Queue::CheckIsUsable() const
{
  m_Backend.CheckIsUsable();
}

void
Reserve(Queue & queue, MemoryPointer & memory, std::size_t bytes)
{
  if (SizeOf(memory) < bytes)
  {
    memory.reset();
    memory = queue.Allocate(bytes);
  }
}

void
ReserveExactly(Queue & queue, MemoryPointer & memory, std::size_t bytes)
{
  if (queue.keepsLargerArrays && bytes > 0)
  {
    Reserve(queue, memory, bytes);
  }
  else if (SizeOf(memory) != bytes)
  {
    memory.reset();
    memory = bytes > 0 ? queue.Allocate(bytes) : nullptr;
  }
}

} // namespace gpureg
