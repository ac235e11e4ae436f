// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/HostQueue.h"
#include "host/runtime/SystemMemory.h"

#include "engine/runtime/KernelLaunch.h"
#include "gpureg/runtime/LargePages.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gpureg
{

namespace
{
double
Now()
{
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
} // namespace

HostMemory::HostMemory(Backend & backend, std::size_t bytes)
  : Memory(bytes)
  , m_Backend(&backend)
{
  const std::string & name = backend.GetDescription().name;
  backend.GetMemoryAccount().Allocate(bytes, name, [&] {
    m_Address = std::malloc(bytes);
    if (!m_Address)
    {
      throw OutOfMemoryError("out of memory on " + name + ": " + std::to_string(bytes) + " bytes asked for");
    }
  });
}

HostMemory::~HostMemory()
{
  if (m_Backend)
  {
    std::free(m_Address);
    m_Backend->GetMemoryAccount().Release(GetSize());
  }
}

MemoryPointer
HostQueue::DoAllocate(std::size_t bytes)
{
  auto memory = std::make_unique<HostMemory>(GetBackend(), bytes);
  PrepareForWriting(memory->GetAddress(), bytes, GetParallelFor());
  return memory;
}

std::size_t
HostQueue::GetFreeMemory()
{
  const std::size_t physical = GetBackend().GetDescription().memorySize;
  // The system does not count what this process holds as available either.
  return std::min(GetBackend().GetMemoryAccount().GetAvailableBytes(physical),
                  ReadSystemMemory("", physical).available);
}

void
HostQueue::DoUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes)
{
  std::memcpy(static_cast<char *>(GetHostAddress(target)) + offset, source, bytes);
}

void
HostQueue::DoStartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int)
{
  DoUpload(target, offset, source, bytes);
}

void
HostQueue::DoDownload(void * target, const Memory & source, std::size_t bytes)
{
  std::memcpy(target, static_cast<HostMemory &>(const_cast<Memory &>(source)).GetAddress(), bytes);
}

void
HostQueue::DoStartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int)
{
  std::memcpy(target, static_cast<char *>(GetHostAddress(const_cast<Memory &>(source))) + offset, bytes);
}

void
HostQueue::DoCopy(
  Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes)
{
  constexpr std::size_t chunk = std::size_t{ 1 } << 20;
  char * const          to = static_cast<char *>(GetHostAddress(target)) + targetFirst;
  const char * const    from = static_cast<const char *>(GetHostAddress(const_cast<Memory &>(source))) + sourceFirst;
  ForEachTask(static_cast<std::int64_t>((bytes + chunk - 1) / chunk), [=](std::int64_t task) {
    const std::size_t first = static_cast<std::size_t>(task) * chunk;
    std::memcpy(to + first, from + first, std::min(chunk, bytes - first));
  });
}

void
HostQueue::RunItems(const ItemLaunch & launch)
{
  const std::int64_t items = launch.itemsOfTask;
  CountLaunch();
  ForEachTask((launch.count + items - 1) / items, [&](std::int64_t task) {
    launch.runOnHost(launch.arguments, task * items, std::min(launch.count, (task + 1) * items));
  });
}

void
HostQueue::RunGroups(const GroupLaunch & launch)
{
  throw std::logic_error(std::string("the host runs loops, and no groups: ") + launch.name);
}

GroupTraits
HostQueue::GetGroupTraits() const
{
  throw std::logic_error("the host runs loops, and no groups");
}

void *
HostQueue::GetHostAddress(Memory & memory)
{
  return static_cast<HostMemory &>(memory).GetAddress();
}

MemoryPointer
HostQueue::Wrap(void * address, std::size_t bytes)
{
  return std::make_unique<HostMemory>(address, bytes);
}

void
HostQueue::StartTimer()
{
  m_Started = Now();
}

void
HostQueue::StopTimer()
{
  m_Stopped = Now();
}

double
HostQueue::ReadTimer()
{
  return m_Stopped - m_Started;
}

} // namespace gpureg
