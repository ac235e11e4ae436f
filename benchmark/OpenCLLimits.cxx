// SPDX-License-Identifier: Apache-2.0
// The limits of an OpenCL device: copies timed by its own events, and the peak if it is NVIDIA's and reports its properties.
#include "DeviceLimits.h"

#include "opencl/runtime/OpenCLError.h"

#include <vector>

namespace bench
{

namespace
{

// A kernel, since a CPU's driver often uses only one thread for clEnqueueCopyBuffer.
const char * const Source = R"(
kernel void Copy(global const float4 * source, global float4 * target)
{
  const size_t i = get_global_id(0);
  target[i] = source[i];
}
)";

/** Returns the handle of a device with the library's description; if there are several of one model, the one at the same place among
 *  them. */
cl::Device
FindHandle(const itk::GPUDevice & device)
{
  std::size_t before = 0;
  for (const itk::GPUDevice & other : itk::GPUDevice::GetAvailable())
  {
    if (other == device)
    {
      break;
    }
    before += other.GetDescription() == device.GetDescription();
  }
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform & platform : platforms)
  {
    std::vector<cl::Device> handles;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &handles);
    for (const cl::Device & handle : handles)
    {
      const std::string model = handle.getInfo<CL_DEVICE_NAME>() + ", " + platform.getInfo<CL_PLATFORM_NAME>() + ", ";
      if (device.GetDescription().rfind(model, 0) == 0 && before-- == 0)
      {
        return handle;
      }
    }
  }
  throw gpureg::Error(device.GetName() + " is not among OpenCL's devices");
}

/** Waits for a command. Returns the seconds that it took. */
double
TimeCommand(const cl::Event & event)
{
  event.wait();
  return 1e-9 * static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                    event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
}

void
MeasureCopy(DeviceLimits &           limits,
            const cl::Context &      context,
            const cl::CommandQueue & queue,
            const cl::Device &       handle)
{
  const std::size_t most = std::min<std::size_t>(handle.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>(),
                                                 handle.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>() / 4);
  const std::size_t count = ChooseCopySize(most) / sizeof(cl_float4) / 256 * 256;
  const std::size_t bytes = count * sizeof(cl_float4);
  cl::Buffer        source(context, CL_MEM_READ_WRITE, bytes);
  cl::Buffer        target(context, CL_MEM_READ_WRITE, bytes);
  cl::Program       program(context, std::string(Source));
  program.build({ handle }, "-cl-std=CL1.2");
  cl::Kernel kernel(program, "Copy");
  // Written before it is read, so that the memory is allocated.
  queue.enqueueFillBuffer(source, cl_float{ 1 }, 0, bytes);
  kernel.setArg(0, source);
  kernel.setArg(1, target);
  limits.copyBytesPerSecond = MeasureBandwidth(2 * bytes, [&] {
    cl::Event event;
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(count), cl::NDRange(256), nullptr, &event);
    return TimeCommand(event);
  });
}

void
MeasureBus(DeviceLimits & limits, const cl::Context & context, const cl::CommandQueue & queue)
{
  cl::Buffer   buffer(context, CL_MEM_READ_WRITE, BusCopySize);
  cl::Buffer   pinned(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, BusCopySize);
  void * const address = queue.enqueueMapBuffer(pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, BusCopySize);
  limits.upBytesPerSecond = MeasureBandwidth(BusCopySize, [&] {
    cl::Event event;
    queue.enqueueWriteBuffer(buffer, CL_FALSE, 0, BusCopySize, address, nullptr, &event);
    return TimeCommand(event);
  });
  limits.downBytesPerSecond = MeasureBandwidth(BusCopySize, [&] {
    cl::Event event;
    queue.enqueueReadBuffer(buffer, CL_FALSE, 0, BusCopySize, address, nullptr, &event);
    return TimeCommand(event);
  });
  queue.enqueueUnmapMemObject(pinned, address);
  queue.finish();
}

/** Sets the peak by the extension cl_nv_device_attribute_query. */
void
FindPeak(DeviceLimits & limits, const cl::Device & handle)
{
  constexpr cl_device_info capabilityMajorNV = 0x4000, capabilityMinorNV = 0x4001;
  if (handle.getInfo<CL_DEVICE_EXTENSIONS>().find("cl_nv_device_attribute_query") != std::string::npos)
  {
    const auto get = [&](cl_device_info name) {
      cl_uint value = 0;
      clGetDeviceInfo(handle(), name, sizeof value, &value, nullptr);
      return static_cast<int>(value);
    };
    SetPeak(limits,
            get(CL_DEVICE_MAX_COMPUTE_UNITS),
            get(capabilityMajorNV),
            get(capabilityMinorNV),
            1e6 * get(CL_DEVICE_MAX_CLOCK_FREQUENCY));
  }
}

} // namespace

DeviceLimits
MeasureOpenCLLimits(const itk::GPUDevice & device)
{
  return gpureg::CheckOpenCL(device.GetName(), [&] {
    const cl::Device       handle = FindHandle(device);
    const cl::Context      context(handle);
    const cl::CommandQueue queue(context, handle, CL_QUEUE_PROFILING_ENABLE);
    DeviceLimits           limits;
    MeasureCopy(limits, context, queue, handle);
    // A CPU's memory is the host's own, so there is no bus.
    if ((handle.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) == 0)
    {
      MeasureBus(limits, context, queue);
    }
    FindPeak(limits, handle);
    return limits;
  });
}

} // namespace bench
