// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HostQueue_h
#define gpureg_HostQueue_h

#include "engine/runtime/Backend.h"

namespace gpureg
{

class HostMemory : public Memory
{
public:
  HostMemory(Backend & backend, std::size_t bytes);
  /** Wraps memory that somebody else owns. The memory account does not count it. */
  HostMemory(void * address, std::size_t bytes)
    : Memory(bytes)
    , m_Address(address)
  {}
  ~HostMemory() override;

  void *
  GetAddress() const override
  {
    return m_Address;
  }

private:
  Backend * m_Backend = nullptr; // set if the memory was allocated here
  void *    m_Address;
};

/** Returns the array as kernels see it, or null if there is none. */
template <typename T>
T *
AddressOf(const MemoryPointer & memory)
{
  return memory ? static_cast<T *>(static_cast<HostMemory &>(*memory).GetAddress()) : nullptr;
}

/** Runs work at once, on the caller's threads. */
class HostQueue : public Queue
{
public:
  using Queue::Queue;

  std::size_t
  GetFreeMemory() override;
  void
  RunItems(const ItemLaunch & launch) override;
  void
  RunGroups(const GroupLaunch & launch) override;
  GroupTraits
  GetGroupTraits() const override;
  void *
  GetHostAddress(Memory & memory) override;
  /** Returns the address of a memory's elements, also for memory that is only read. */
  template <typename T>
  T *
  AddressIn(const Memory & memory)
  {
    return static_cast<T *>(this->GetHostAddress(const_cast<Memory &>(memory)));
  }
  MemoryPointer
  Wrap(void * address, std::size_t bytes) override;
  void
  StartTimer() override;
  void
  StopTimer() override;
  double
  ReadTimer() override;

  void
  MarkRead(int) override
  {}
  void
  OrderAfterUploads() override
  {}
  void
  MarkMade(int) override
  {}
  void
  MarkStaging(Direction, int) override
  {}
  void
  WaitForStaging(Direction, int) override
  {}
  void
  Finish() override
  {}
  void
  SetFence(int) override
  {}
  void
  WaitForFence(int) override
  {}

private:
  MemoryPointer
  DoAllocate(std::size_t bytes) override;
  void
  DoUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes) override;
  void
  DoStartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer) override;
  void
  DoDownload(void * target, const Memory & source, std::size_t bytes) override;
  void
  DoStartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer) override;
  void
  DoCopy(Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes)
    override;

  double m_Started = 0;
  double m_Stopped = 0;
};

} // namespace gpureg

#endif
