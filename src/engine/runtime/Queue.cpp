// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Queue.h"

#include "engine/runtime/Backend.h"

#include <algorithm>
#include <stdexcept>
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
  this->CheckIsOperating();
  ++m_Statistics.allocations;
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
  this->CheckIsOperating();
  StagingPointer & staging = m_Staging[static_cast<int>(direction)][slot];
  if (staging && staging->GetSize() < bytes)
  {
    Finish();
    m_Backend.GetStagingPool().GiveBack(std::move(staging));
  }
  if (!staging)
  {
    StagingPool::Taken taken = m_Backend.GetStagingPool().Take(bytes);
    m_Statistics.allocations += taken.isNew ? 1 : 0;
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

DeviceKind
Queue::GetKind() const
{
  return m_Backend.GetKind();
}

void
Queue::CheckIsUsable() const
{
  m_Backend.CheckIsUsable();
}

void
Queue::CheckIsOperating() const
{
  if (!m_IsOperating)
  {
    throw std::logic_error("work is enqueued, or memory allocated, outside an operation: call it from Operate()");
  }
  this->CheckIsUsable();
}

void
Queue::CountCopy(Direction direction, std::size_t bytes)
{
  this->CheckIsOperating();
  if (!this->IsHost())
  {
    ++(direction == Direction::Up ? m_Statistics.copiesUp : m_Statistics.copiesDown);
    (direction == Direction::Up ? m_Statistics.bytesUp : m_Statistics.bytesDown) += static_cast<std::int64_t>(bytes);
  }
}

void
Queue::Upload(Memory & target, std::size_t offset, const void * source, std::size_t bytes)
{
  this->CountCopy(Direction::Up, bytes);
  this->DoUpload(target, offset, source, bytes);
}

void
Queue::StartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer)
{
  this->CountCopy(Direction::Up, bytes);
  this->DoStartUpload(target, offset, source, bytes, buffer);
}

void
Queue::StartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer)
{
  this->CountCopy(Direction::Down, bytes);
  this->DoStartDownload(target, source, bytes, offset, buffer);
}

void
Queue::Download(void * target, const Memory & source, std::size_t bytes)
{
  this->CountCopy(Direction::Down, bytes);
  this->DoDownload(target, source, bytes);
}

void
Queue::CopyBytes(
  Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes)
{
  this->CheckIsOperating();
  this->DoCopy(target, targetFirst, source, sourceFirst, bytes);
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
  if (queue.KeepsLargerArrays() && bytes > 0)
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
