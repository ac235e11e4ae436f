// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/HostQueue.h"
#include "host/runtime/SystemMemory.h"

#include "gpureg/runtime/HostMemory.h"

#include <thread>
#include <unistd.h>

namespace gpureg
{

namespace
{
std::size_t
GetPhysicalMemory()
{
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

class HostBackend : public Backend
{
public:
  HostBackend()
    : Backend({ "host",
                std::to_string(std::thread::hardware_concurrency()) + " host threads, " +
                  std::to_string(GetPhysicalMemory() >> 30) + " GiB",
                GetPhysicalMemory() },
              DeviceRank::Host)
  {}

  std::unique_ptr<Queue>
  CreateQueue() override
  {
    return std::make_unique<HostQueue>(*this);
  }

  MemoryPointer
  Borrow(const BorrowedMemory & from, std::size_t bytes) override
  {
    return std::make_unique<HostMemory>(from.address, bytes);
  }

private:
  /** Allocates ordinary memory. Only small results pass through it, because the host copies no arrays. */
  StagingPointer
  MakePinned(std::size_t bytes) override
  {
    return std::make_unique<OrdinaryStaging>(bytes);
  }
};
} // namespace

std::size_t
GetHostMemoryLimit()
{
  return ReadSystemMemory("", GetPhysicalMemory()).limit;
}

BackendList
FindHostBackends()
{
  return { { std::make_shared<HostBackend>() }, {} };
}

} // namespace gpureg
