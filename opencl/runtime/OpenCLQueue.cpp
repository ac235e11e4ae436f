// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLQueue.h"

#include "opencl/runtime/OpenCLError.h"
#include "opencl/runtime/OpenCLKernels.h"

#include "engine/runtime/KernelLaunch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
OutOfMemoryError
MakeMemoryError(OpenCLBackend & backend, std::size_t bytes, const std::string & why)
{
  const OpenCLDevice & device = backend.GetDevice();
  return OutOfMemoryError("out of memory on " + device.GetName() + ": " + std::to_string(bytes) + " bytes asked for, " +
                          std::to_string(backend.GetMemoryAccount().inUse) + " held by this process, " +
                          std::to_string(device.GetMemorySize()) + " there in all and " +
                          std::to_string(device.GetMaximumAllocation()) + " at most in one piece (" + why +
                          "); use smaller images or another device");
}

/** Makes a buffer and enqueues a command that uses it: drivers may defer the allocation until a command needs it. */
cl::Buffer
MakeBuffer(OpenCLBackend & backend, const cl::Context & context, const cl::CommandQueue & queue, std::size_t bytes)
{
  const OpenCLDevice & device = backend.GetDevice();
  if (bytes > device.GetMaximumAllocation() || backend.GetMemoryAccount().inUse + bytes > device.GetMemorySize())
  {
    throw MakeMemoryError(backend, bytes, "too much to ask of it");
  }
  try
  {
    cl::Buffer buffer(context, CL_MEM_READ_WRITE, bytes);
    queue.enqueueFillBuffer(buffer, cl_uchar{ 0 }, 0, 1);
    return buffer;
  }
  catch (const cl::Error & error)
  {
    if (MeansOutOfMemory(error.err()))
    {
      throw MakeMemoryError(backend, bytes, DescribeOpenCLError(error));
    }
    throw;
  }
}
} // namespace

OpenCLMemory::OpenCLMemory(OpenCLBackend &          backend,
                           const cl::Context &      context,
                           const cl::CommandQueue & queue,
                           std::size_t              bytes)
  : Memory(bytes)
  , m_Account(backend.GetMemoryAccount())
{
  const std::string & name = backend.GetDevice().GetName();
  m_Account.Allocate(bytes, name, [&] {
    m_Buffer = CheckOpenCL(name, [&] { return MakeBuffer(backend, context, queue, bytes); });
  });
}

OpenCLMemory::~OpenCLMemory()
{
  {
    // Assigning to a buffer throws where it cannot be released, as on a device that is lost; the end of one does not.
    const cl::Buffer gone = std::move(m_Buffer);
  }
  m_Account.Release(GetSize());
}

OpenCLStaging::OpenCLStaging(OpenCLDevice & device, std::size_t bytes)
  : Staging(bytes)
  , m_Queue(device.GetContext(), device.GetHandle())
  , m_Buffer(device.GetContext(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes)
  , m_Address(m_Queue.enqueueMapBuffer(m_Buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes))
{}

OpenCLStaging::~OpenCLStaging()
{
  try
  {
    m_Queue.enqueueUnmapMemObject(m_Buffer, m_Address);
    m_Queue.finish();
  }
  catch (const cl::Error &)
  {
    // The device is gone, and the mapping with it.
  }
}

OpenCLQueue::OpenCLQueue(OpenCLBackend & backend)
  : Queue(backend)
{
  CheckOpenCL(GetDeviceName(), [this] {
    m_Context = GetDevice().GetContext();
    m_Queue = cl::CommandQueue(m_Context, GetDevice().GetHandle(), CL_QUEUE_PROFILING_ENABLE);
    m_UpQueue = cl::CommandQueue(m_Context, GetDevice().GetHandle());
    m_DownQueue = cl::CommandQueue(m_Context, GetDevice().GetHandle());
  });
}

OpenCLQueue::~OpenCLQueue()
{
  for (cl::CommandQueue * queue : { &m_Queue, &m_UpQueue, &m_DownQueue })
  {
    try
    {
      queue->finish();
    }
    catch (const cl::Error &)
    {
      // The device is gone: there is nothing to wait for.
    }
  }
}

MemoryPointer
OpenCLQueue::DoAllocate(std::size_t bytes)
{
  return std::make_unique<OpenCLMemory>(static_cast<OpenCLBackend &>(GetBackend()), m_Context, m_Queue, bytes);
}

std::size_t
OpenCLQueue::GetFreeMemory()
{
  return GetBackend().GetMemoryAccount().GetAvailableBytes(GetDevice().GetMemorySize());
}

std::size_t
OpenCLQueue::GetLargestAllocation()
{
  return GetDevice().GetMaximumAllocation();
}

void
OpenCLQueue::CopyUp(const cl::CommandQueue &       queue,
                    const std::vector<cl::Event> * after,
                    Memory &                       target,
                    std::size_t                    offset,
                    const void *                   source,
                    std::size_t                    bytes)
{
  CheckOpenCL(GetDeviceName(), [&] {
    queue.enqueueWriteBuffer(
      BufferOf(target), CL_FALSE, offset, bytes, source, after, &m_LastCopy[static_cast<int>(Direction::Up)]);
    queue.flush();
  });
}

void
OpenCLQueue::DoUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes)
{
  CopyUp(m_Queue, nullptr, target, offset, source, bytes);
}

void
OpenCLQueue::MarkStaging(Direction direction, int slot)
{
  m_Marks[static_cast<int>(direction)][slot] = m_LastCopy[static_cast<int>(direction)];
}

void
OpenCLQueue::WaitForStaging(Direction direction, int slot)
{
  WaitFor(m_Marks[static_cast<int>(direction)][slot]);
}

void
OpenCLQueue::WaitFor(cl::Event & event)
{
  const cl::Event mark = std::exchange(event, cl::Event());
  if (mark())
  {
    CountSynchronization();
    CheckOpenCL(GetDeviceName(), [&] { mark.wait(); });
  }
}

void
OpenCLQueue::Mark(cl::Event & mark)
{
  CheckOpenCL(GetDeviceName(), [&] {
    m_Queue.enqueueMarkerWithWaitList(nullptr, &mark);
    m_Queue.flush();
  });
}

void
OpenCLQueue::MarkRead(int buffer)
{
  m_Read[buffer].resize(1);
  Mark(m_Read[buffer].front());
}

void
OpenCLQueue::DoStartUpload(Memory & target, std::size_t offset, const void * source, std::size_t bytes, int buffer)
{
  CopyUp(m_UpQueue, &m_Read[buffer], target, offset, source, bytes);
}

void
OpenCLQueue::OrderAfterUploads()
{
  CheckOpenCL(GetDeviceName(), [&] {
    const std::vector<cl::Event> last{ m_LastCopy[static_cast<int>(Direction::Up)] };
    m_Queue.enqueueBarrierWithWaitList(&last);
  });
}

void
OpenCLQueue::MarkMade(int buffer)
{
  m_Made[buffer].resize(1);
  Mark(m_Made[buffer].front());
}

void
OpenCLQueue::DoStartDownload(void * target, const Memory & source, std::size_t bytes, std::size_t offset, int buffer)
{
  CheckOpenCL(GetDeviceName(), [&] {
    m_DownQueue.enqueueReadBuffer(BufferOf(source),
                                  CL_FALSE,
                                  offset,
                                  bytes,
                                  target,
                                  &m_Made[buffer],
                                  &m_LastCopy[static_cast<int>(Direction::Down)]);
    m_DownQueue.flush();
  });
}

void
OpenCLQueue::DoDownload(void * target, const Memory & source, std::size_t bytes)
{
  CheckOpenCL(GetDeviceName(), [&] { m_Queue.enqueueReadBuffer(BufferOf(source), CL_TRUE, 0, bytes, target); });
  CountSynchronization();
}

void
OpenCLQueue::DoCopy(
  Memory & target, std::size_t targetFirst, const Memory & source, std::size_t sourceFirst, std::size_t bytes)
{
  CheckOpenCL(GetDeviceName(), [&] {
    m_Queue.enqueueCopyBuffer(
      BufferOf(source), BufferOf(target), sourceFirst, targetFirst, bytes, nullptr, GetTimedEvent());
    StoreFirstTimed();
  });
}

void
OpenCLQueue::Finish()
{
  CountSynchronization();
  CheckOpenCL(GetDeviceName(), [this] {
    m_Queue.finish();
    m_UpQueue.finish();
    m_DownQueue.finish();
  });
}

void
OpenCLQueue::SetFence(int number)
{
  Mark(m_Fences[number]);
}

void
OpenCLQueue::WaitForFence(int number)
{
  WaitFor(m_Fences[number]);
}

void
OpenCLQueue::Flush()
{
  CheckOpenCL(GetDeviceName(), [this] { m_Queue.flush(); });
}

void
OpenCLQueue::StartTimer()
{
  m_IsTiming = true;
  m_FirstTimed = cl::Event();
  m_LastTimed = cl::Event();
}

void
OpenCLQueue::StopTimer()
{
  m_IsTiming = false;
}

double
OpenCLQueue::ReadTimer()
{
  if (!m_FirstTimed())
  {
    return 0;
  }
  return CheckOpenCL(GetDeviceName(), [this] {
    const cl_ulong start = m_FirstTimed.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const cl_ulong end = m_LastTimed.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return static_cast<double>(end - start) * 1e-6;
  });
}

void
OpenCLQueue::Launch(const cl::Kernel & kernel, std::int64_t groups, int groupsY, int groupsZ)
{
  CountLaunch();
  const auto        lanes = static_cast<std::size_t>(GetDevice().GetLanes());
  const cl::NDRange items(static_cast<std::size_t>(groups) * lanes,
                          static_cast<std::size_t>(groupsY),
                          static_cast<std::size_t>(groupsZ));
  m_Queue.enqueueNDRangeKernel(kernel, cl::NullRange, items, cl::NDRange(lanes, 1, 1), nullptr, GetTimedEvent());
  StoreFirstTimed();
}

cl::Kernel &
OpenCLQueue::GetKernel(const KernelLaunch & launch, const std::string & options)
{
  const auto & source = *static_cast<const OpenCLKernelSource *>(launch.openCLEntry);
  if (source.needsDoubles || launch.precision == Precision::Double)
  {
    CheckHasDoubles(GetDevice());
  }
  std::unique_ptr<OpenCLKernels> & kernels = m_Kernels[source.text];
  if (!kernels)
  {
    kernels = std::make_unique<OpenCLKernels>(*this, source.text);
  }
  return kernels->Get(launch.name, GetRealOption(launch.precision) + options);
}

cl_uint
OpenCLQueue::SetArguments(cl::Kernel & kernel, cl_uint index, const KernelLaunch & launch)
{
  for (std::size_t n = 0; n < launch.argumentCount; ++n)
  {
    const KernelArgument & argument = launch.arguments[n];
    if (argument.isArray)
    {
      kernel.setArg(index++, argument.memory ? BufferOf(*argument.memory) : cl::Buffer());
      kernel.setArg(index++, cl_long{ argument.first });
    }
    else if (argument.members)
    {
      for (std::size_t member = 0; member < argument.memberCount; ++member)
      {
        const Memory * const memory = argument.members[member];
        kernel.setArg(index++, memory ? BufferOf(*memory) : cl::Buffer());
      }
    }
    else
    {
      kernel.setArg(index++, argument.bytes, argument.value);
    }
  }
  return index;
}

void
OpenCLQueue::RunItems(const ItemLaunch & launch)
{
  cl::Kernel &       kernel = this->GetKernel(launch, "");
  const std::int64_t lanes = GetDevice().GetLanes();
  CheckOpenCL(GetDeviceName(), [&] {
    kernel.setArg(0, cl_long{ launch.count });
    SetArguments(kernel, 1, launch);
    this->Launch(kernel, (launch.count + lanes - 1) / lanes, 1);
  });
}

cl::Kernel &
OpenCLQueue::GetGroupKernel(const GroupLaunch & launch)
{
  std::string options;
  if (launch.constantCount > 0)
  {
    // The variants of a kernel are programs of their own. A GPU has one for each. On a processor, compiling these may take longer than it
    // ever saves: then one kernel looks the constants up at run time.
    const bool isLookedUp = launch.areLookedUp && !GetDevice().IsGpu();
    options = std::string(" -DGPUREG_HAS_") + launch.name;
    for (std::size_t k = 0; k < launch.constantCount; ++k)
    {
      const std::string name = std::to_string(k);
      const int         value = *static_cast<const int *>(launch.arguments[k].value);
      options +=
        " -DGPUREG_CONSTANT_" + name + "=" + (isLookedUp ? "constant" + name : "(" + std::to_string(value) + ")");
    }
  }
  return this->GetKernel(launch, options);
}

void
OpenCLQueue::PrepareGroups(const GroupLaunch & launch)
{
  this->GetGroupKernel(launch);
}

void
OpenCLQueue::RunGroups(const GroupLaunch & launch)
{
  cl::Kernel & kernel = this->GetGroupKernel(launch);
  CheckOpenCL(GetDeviceName(), [&] {
    const cl_uint index = SetArguments(kernel, 0, launch);
    if (launch.localBytes > 0)
    {
      kernel.setArg(index, cl::Local(launch.localBytes));
    }
    this->Launch(kernel, launch.groups[0], static_cast<int>(launch.groups[1]), static_cast<int>(launch.groups[2]));
  });
}

GroupTraits
OpenCLQueue::GetGroupTraits() const
{
  const OpenCLDevice & device = GetDevice();
  return { device.GetLanes(), device.GetTargetGroups(), device.GetLocalMemorySize() };
}

void
OpenCLQueue::Clear(Memory & memory, std::size_t bytes)
{
  CheckIsOperating();
  m_Queue.enqueueFillBuffer(BufferOf(memory), cl_uchar{ 0 }, 0, bytes, nullptr, GetTimedEvent());
  StoreFirstTimed();
}

void
OpenCLQueue::StoreFirstTimed()
{
  if (m_IsTiming && !m_FirstTimed())
  {
    m_FirstTimed = m_LastTimed;
  }
}

} // namespace gpureg
