// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLQueue_h
#define gpureg_OpenCLQueue_h

#include "opencl/runtime/OpenCLBackend.h"

#include <map>
#include <memory>

namespace gpureg
{

class OpenCLKernels;
struct KernelLaunch;

class OpenCLMemory : public Memory
{
public:
  OpenCLMemory(OpenCLBackend & backend, const cl::Context & context, const cl::CommandQueue & queue, std::size_t bytes);
  ~OpenCLMemory() override;

  const cl::Buffer &
  GetBuffer() const
  {
    return m_Buffer;
  }

private:
  MemoryAccount & m_Account;
  cl::Buffer      m_Buffer;
};

/** Returns the array as the kernels get it. */
inline const cl::Buffer &
BufferOf(const Memory & memory)
{
  return static_cast<const OpenCLMemory &>(memory).GetBuffer();
}

/** Sets all arguments of a kernel, in order. \throws cl::Error */
template <typename... TArguments>
void
SetKernelArguments(cl::Kernel & kernel, const TArguments &... values)
{
  cl_uint index = 0;
  (kernel.setArg(index++, values), ...);
}

/** Owns pinned host memory, mapped for as long as the object lives. */
class OpenCLStaging : public Staging
{
public:
  /** \throws cl::Error */
  OpenCLStaging(OpenCLDevice & device, std::size_t bytes);
  ~OpenCLStaging() override;

  void *
  GetAddress() const override
  {
    return m_Address;
  }

private:
  cl::CommandQueue m_Queue;
  cl::Buffer       m_Buffer;
  void *           m_Address;
};

/** Enqueues work on an in-order command queue of its own, in the context that all queues on a device share. */
class OpenCLQueue : public Queue
{
public:
  explicit OpenCLQueue(OpenCLBackend & backend);
  ~OpenCLQueue() override;

  std::size_t
  GetFreeMemory() override;
  std::size_t
  GetLargestAllocation() override;
  void
  MarkStaging(Direction direction, int slot) override;
  void
  WaitForStaging(Direction direction, int slot) override;
  void
  MarkRead(int buffer) override;
  void
  OrderAfterUploads() override;
  void
  MarkMade(int buffer) override;
  void
  RunItems(const ItemLaunch & launch) override;
  void
  RunGroups(const GroupLaunch & launch) override;
  void
  PrepareGroups(const GroupLaunch & launch) override;
  GroupTraits
  GetGroupTraits() const override;
  void
  Finish() override;
  void
  SetFence(int number) override;
  void
  WaitForFence(int number) override;
  void
  Flush() override;
  void
  StartTimer() override;
  void
  StopTimer() override;
  double
  ReadTimer() override;

  OpenCLDevice &
  GetDevice() const
  {
    return static_cast<OpenCLBackend &>(GetBackend()).GetDevice();
  }

  const std::string &
  GetDeviceName() const
  {
    return GetDevice().GetName();
  }

  /** Enqueues groups × groupsY × groupsZ work-groups of the device's lanes. \throws cl::Error */
  void
  Launch(const cl::Kernel & kernel, std::int64_t groups, int groupsY, int groupsZ = 1);

  /** Enqueues clearing the first `bytes` bytes to 0. \throws cl::Error */
  void
  Clear(Memory & memory, std::size_t bytes);

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
  /** Returns the kernel of a launch. \throws UnsupportedError if the device cannot compute in doubles and the kernel does */
  cl::Kernel &
  GetKernel(const KernelLaunch & launch, const std::string & options);
  /** Returns the kernel of the launch's variant. */
  cl::Kernel &
  GetGroupKernel(const GroupLaunch & launch);
  /** Sets a kernel's arguments from number index on, and returns the number behind the last one. \throws cl::Error */
  static cl_uint
  SetArguments(cl::Kernel & kernel, cl_uint index, const KernelLaunch & launch);
  /** Returns the event for the next command, or null unless it is timed. */
  cl::Event *
  GetTimedEvent()
  {
    return m_IsTiming ? &m_LastTimed : nullptr;
  }
  /** Stores the event of the first timed command, after that was enqueued. */
  void
  StoreFirstTimed();
  /** Enqueues a marker. */
  void
  Mark(cl::Event & mark);
  /** Waits for an event, if there is one, and clears it. */
  void
  WaitFor(cl::Event & event);
  void
  CopyUp(const cl::CommandQueue &       queue,
         const std::vector<cl::Event> * after,
         Memory &                       target,
         std::size_t                    offset,
         const void *                   source,
         std::size_t                    bytes);

  cl::Context            m_Context;
  cl::CommandQueue       m_Queue;
  cl::CommandQueue       m_UpQueue; // for StartUpload and StartDownload, so that copies overlap other work
  cl::CommandQueue       m_DownQueue;
  cl::Event              m_Marks[2][2]; // [direction][slot]: the copy that last read or wrote its staging memory
  cl::Event              m_LastCopy[2]; // [direction]: the last copy
  std::vector<cl::Event> m_Read[2];     // [buffer]: a wait list of one event, or none
  std::vector<cl::Event> m_Made[2];
  cl::Event              m_Fences[2];
  bool                   m_IsTiming = false;
  cl::Event              m_FirstTimed;
  cl::Event              m_LastTimed;
  /** By source. */
  std::map<const char *, std::unique_ptr<OpenCLKernels>> m_Kernels;
};

} // namespace gpureg

#endif
