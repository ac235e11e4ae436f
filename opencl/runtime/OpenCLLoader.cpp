// SPDX-License-Identifier: Apache-2.0
// Defines the functions of OpenCL that this library uses, since it is not linked with OpenCL's library. They have OpenCL's names and are
// hidden from other libraries; each looks up its counterpart in libOpenCL.so.1 at the first call.
#include "opencl/runtime/OpenCLLoader.h"

#include "opencl/runtime/OpenCLBindings.h"

#include "gpureg/core/Error.h"

#include <dlfcn.h>

namespace
{
struct Library
{
  void *      handle;
  std::string complaint;
};

/** Returns the system's library, which is never closed: drivers leave threads and exit handlers behind. */
const Library &
GetLibrary()
{
  static const Library library = []() -> Library {
    void * const handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    return { handle, handle ? "" : dlerror() };
  }();
  return library;
}

template <typename TFunction>
TFunction
Find(const char * name)
{
  void * const function = GetLibrary().handle ? dlsym(GetLibrary().handle, name) : nullptr;
  if (!function)
  {
    throw gpureg::UnsupportedError(std::string("libOpenCL.so.1 has no function ") + name);
  }
  return reinterpret_cast<TFunction>(function);
}

/** Calls the system's function with the name and type of VFunction, which is the one defined here. */
template <auto VFunction, typename... TArguments>
auto
Forward(const char * name, TArguments... arguments)
{
  static const auto function = Find<decltype(VFunction)>(name);
  return function(arguments...);
}
} // namespace

const std::string &
gpureg::GetOpenCLLoaderComplaint()
{
  return GetLibrary().complaint;
}

// Platforms and devices.

cl_int CL_API_CALL
clGetPlatformIDs(cl_uint count, cl_platform_id * platforms, cl_uint * found)
{
  return Forward<clGetPlatformIDs>(__func__, count, platforms, found);
}

cl_int CL_API_CALL
clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void * value, size_t * sizeNeeded)
{
  return Forward<clGetPlatformInfo>(__func__, platform, name, size, value, sizeNeeded);
}

cl_int CL_API_CALL
clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id * devices, cl_uint * found)
{
  return Forward<clGetDeviceIDs>(__func__, platform, type, count, devices, found);
}

cl_int CL_API_CALL
clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void * value, size_t * sizeNeeded)
{
  return Forward<clGetDeviceInfo>(__func__, device, name, size, value, sizeNeeded);
}

cl_int CL_API_CALL
clRetainDevice(cl_device_id device)
{
  return Forward<clRetainDevice>(__func__, device);
}

cl_int CL_API_CALL
clReleaseDevice(cl_device_id device)
{
  return Forward<clReleaseDevice>(__func__, device);
}

// Contexts and queues.

cl_context CL_API_CALL
clCreateContext(const cl_context_properties * properties,
                cl_uint                       deviceCount,
                const cl_device_id *          devices,
                void(CL_CALLBACK * notify)(const char *, const void *, size_t, void *),
                void *   userData,
                cl_int * status)
{
  return Forward<clCreateContext>(__func__, properties, deviceCount, devices, notify, userData, status);
}

cl_int CL_API_CALL
clRetainContext(cl_context context)
{
  return Forward<clRetainContext>(__func__, context);
}

cl_int CL_API_CALL
clReleaseContext(cl_context context)
{
  return Forward<clReleaseContext>(__func__, context);
}

cl_command_queue CL_API_CALL
clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int * status)
{
  return Forward<clCreateCommandQueue>(__func__, context, device, properties, status);
}

cl_int CL_API_CALL
clRetainCommandQueue(cl_command_queue queue)
{
  return Forward<clRetainCommandQueue>(__func__, queue);
}

cl_int CL_API_CALL
clReleaseCommandQueue(cl_command_queue queue)
{
  return Forward<clReleaseCommandQueue>(__func__, queue);
}

cl_int CL_API_CALL
clFlush(cl_command_queue queue)
{
  return Forward<clFlush>(__func__, queue);
}

cl_int CL_API_CALL
clFinish(cl_command_queue queue)
{
  return Forward<clFinish>(__func__, queue);
}

// Memory.

cl_mem CL_API_CALL
clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void * address, cl_int * status)
{
  return Forward<clCreateBuffer>(__func__, context, flags, size, address, status);
}

cl_int CL_API_CALL
clRetainMemObject(cl_mem memory)
{
  return Forward<clRetainMemObject>(__func__, memory);
}

cl_int CL_API_CALL
clReleaseMemObject(cl_mem memory)
{
  return Forward<clReleaseMemObject>(__func__, memory);
}

cl_int CL_API_CALL
clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waitCount, const cl_event * waitList, cl_event * event)
{
  return Forward<clEnqueueBarrierWithWaitList>(__func__, queue, waitCount, waitList, event);
}

cl_int CL_API_CALL
clEnqueueCopyBuffer(cl_command_queue queue,
                    cl_mem           source,
                    cl_mem           target,
                    size_t           sourceOffset,
                    size_t           targetOffset,
                    size_t           size,
                    cl_uint          waitCount,
                    const cl_event * waitList,
                    cl_event *       event)
{
  return Forward<clEnqueueCopyBuffer>(
    __func__, queue, source, target, sourceOffset, targetOffset, size, waitCount, waitList, event);
}

cl_int CL_API_CALL
clEnqueueFillBuffer(cl_command_queue queue,
                    cl_mem           buffer,
                    const void *     pattern,
                    size_t           patternSize,
                    size_t           offset,
                    size_t           size,
                    cl_uint          waitCount,
                    const cl_event * waitList,
                    cl_event *       event)
{
  return Forward<clEnqueueFillBuffer>(
    __func__, queue, buffer, pattern, patternSize, offset, size, waitCount, waitList, event);
}

cl_int CL_API_CALL
clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waitCount, const cl_event * waitList, cl_event * event)
{
  return Forward<clEnqueueMarkerWithWaitList>(__func__, queue, waitCount, waitList, event);
}

cl_int CL_API_CALL
clEnqueueReadBuffer(cl_command_queue queue,
                    cl_mem           buffer,
                    cl_bool          blocking,
                    size_t           offset,
                    size_t           size,
                    void *           address,
                    cl_uint          waitCount,
                    const cl_event * waitList,
                    cl_event *       event)
{
  return Forward<clEnqueueReadBuffer>(
    __func__, queue, buffer, blocking, offset, size, address, waitCount, waitList, event);
}

cl_int CL_API_CALL
clEnqueueWriteBuffer(cl_command_queue queue,
                     cl_mem           buffer,
                     cl_bool          blocking,
                     size_t           offset,
                     size_t           size,
                     const void *     address,
                     cl_uint          waitCount,
                     const cl_event * waitList,
                     cl_event *       event)
{
  return Forward<clEnqueueWriteBuffer>(
    __func__, queue, buffer, blocking, offset, size, address, waitCount, waitList, event);
}

void * CL_API_CALL
clEnqueueMapBuffer(cl_command_queue queue,
                   cl_mem           buffer,
                   cl_bool          blocking,
                   cl_map_flags     flags,
                   size_t           offset,
                   size_t           size,
                   cl_uint          waitCount,
                   const cl_event * waitList,
                   cl_event *       event,
                   cl_int *         status)
{
  return Forward<clEnqueueMapBuffer>(
    __func__, queue, buffer, blocking, flags, offset, size, waitCount, waitList, event, status);
}

cl_int CL_API_CALL
clEnqueueUnmapMemObject(
  cl_command_queue queue, cl_mem memory, void * address, cl_uint waitCount, const cl_event * waitList, cl_event * event)
{
  return Forward<clEnqueueUnmapMemObject>(__func__, queue, memory, address, waitCount, waitList, event);
}

// Programs and kernels.

cl_program CL_API_CALL
clCreateProgramWithSource(
  cl_context context, cl_uint count, const char ** strings, const size_t * lengths, cl_int * status)
{
  return Forward<clCreateProgramWithSource>(__func__, context, count, strings, lengths, status);
}

cl_program CL_API_CALL
clCreateProgramWithBinary(cl_context             context,
                          cl_uint                deviceCount,
                          const cl_device_id *   devices,
                          const size_t *         lengths,
                          const unsigned char ** binaries,
                          cl_int *               binaryStatus,
                          cl_int *               status)
{
  return Forward<clCreateProgramWithBinary>(
    __func__, context, deviceCount, devices, lengths, binaries, binaryStatus, status);
}

cl_int CL_API_CALL
clBuildProgram(cl_program           program,
               cl_uint              deviceCount,
               const cl_device_id * devices,
               const char *         options,
               void(CL_CALLBACK * notify)(cl_program, void *),
               void * userData)
{
  return Forward<clBuildProgram>(__func__, program, deviceCount, devices, options, notify, userData);
}

cl_int CL_API_CALL
clGetProgramInfo(cl_program program, cl_program_info name, size_t size, void * value, size_t * sizeNeeded)
{
  return Forward<clGetProgramInfo>(__func__, program, name, size, value, sizeNeeded);
}

cl_int CL_API_CALL
clGetProgramBuildInfo(
  cl_program program, cl_device_id device, cl_program_build_info name, size_t size, void * value, size_t * sizeNeeded)
{
  return Forward<clGetProgramBuildInfo>(__func__, program, device, name, size, value, sizeNeeded);
}

cl_int CL_API_CALL
clRetainProgram(cl_program program)
{
  return Forward<clRetainProgram>(__func__, program);
}

cl_int CL_API_CALL
clReleaseProgram(cl_program program)
{
  return Forward<clReleaseProgram>(__func__, program);
}

cl_kernel CL_API_CALL
clCreateKernel(cl_program program, const char * name, cl_int * status)
{
  return Forward<clCreateKernel>(__func__, program, name, status);
}

cl_int CL_API_CALL
clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel * kernels, cl_uint * found)
{
  return Forward<clCreateKernelsInProgram>(__func__, program, count, kernels, found);
}

cl_int CL_API_CALL
clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void * value)
{
  return Forward<clSetKernelArg>(__func__, kernel, index, size, value);
}

cl_int CL_API_CALL
clRetainKernel(cl_kernel kernel)
{
  return Forward<clRetainKernel>(__func__, kernel);
}

cl_int CL_API_CALL
clReleaseKernel(cl_kernel kernel)
{
  return Forward<clReleaseKernel>(__func__, kernel);
}

cl_int CL_API_CALL
clEnqueueNDRangeKernel(cl_command_queue queue,
                       cl_kernel        kernel,
                       cl_uint          dimension,
                       const size_t *   offset,
                       const size_t *   globalSize,
                       const size_t *   localSize,
                       cl_uint          waitCount,
                       const cl_event * waitList,
                       cl_event *       event)
{
  return Forward<clEnqueueNDRangeKernel>(
    __func__, queue, kernel, dimension, offset, globalSize, localSize, waitCount, waitList, event);
}

// Events.

cl_int CL_API_CALL
clWaitForEvents(cl_uint count, const cl_event * events)
{
  return Forward<clWaitForEvents>(__func__, count, events);
}

cl_int CL_API_CALL
clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void * value, size_t * sizeNeeded)
{
  return Forward<clGetEventProfilingInfo>(__func__, event, name, size, value, sizeNeeded);
}

cl_int CL_API_CALL
clRetainEvent(cl_event event)
{
  return Forward<clRetainEvent>(__func__, event);
}

cl_int CL_API_CALL
clReleaseEvent(cl_event event)
{
  return Forward<clReleaseEvent>(__func__, event);
}
