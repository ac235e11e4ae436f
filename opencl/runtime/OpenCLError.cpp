// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLError.h"

#include <algorithm>
#include <iterator>

namespace gpureg
{

namespace
{
struct StatusName
{
  cl_int       status;
  const char * name;
};

constexpr StatusName StatusNames[] = {
  { CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND" },
  { CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE" },
  { CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE" },
  { CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE" },
  { CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES" },
  { CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY" },
  { CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE" },
  { CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP" },
  { CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE" },
  { CL_MAP_FAILURE, "CL_MAP_FAILURE" },
  { CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET" },
  { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST" },
  { CL_COMPILE_PROGRAM_FAILURE, "CL_COMPILE_PROGRAM_FAILURE" },
  { CL_LINKER_NOT_AVAILABLE, "CL_LINKER_NOT_AVAILABLE" },
  { CL_LINK_PROGRAM_FAILURE, "CL_LINK_PROGRAM_FAILURE" },
  { CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE" },
  { CL_INVALID_VALUE, "CL_INVALID_VALUE" },
  { CL_INVALID_DEVICE_TYPE, "CL_INVALID_DEVICE_TYPE" },
  { CL_INVALID_PLATFORM, "CL_INVALID_PLATFORM" },
  { CL_INVALID_DEVICE, "CL_INVALID_DEVICE" },
  { CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT" },
  { CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES" },
  { CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE" },
  { CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR" },
  { CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT" },
  { CL_INVALID_BINARY, "CL_INVALID_BINARY" },
  { CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS" },
  { CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM" },
  { CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE" },
  { CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME" },
  { CL_INVALID_KERNEL_DEFINITION, "CL_INVALID_KERNEL_DEFINITION" },
  { CL_INVALID_KERNEL, "CL_INVALID_KERNEL" },
  { CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX" },
  { CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE" },
  { CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE" },
  { CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS" },
  { CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION" },
  { CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE" },
  { CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE" },
  { CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET" },
  { CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST" },
  { CL_INVALID_EVENT, "CL_INVALID_EVENT" },
  { CL_INVALID_OPERATION, "CL_INVALID_OPERATION" },
  { CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE" },
  { CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE" },
  { CL_INVALID_PROPERTY, "CL_INVALID_PROPERTY" },
  { CL_INVALID_COMPILER_OPTIONS, "CL_INVALID_COMPILER_OPTIONS" },
  { CL_INVALID_LINKER_OPTIONS, "CL_INVALID_LINKER_OPTIONS" },
  { -1001, "CL_PLATFORM_NOT_FOUND_KHR" }, // of the ICD loader, cl_khr_icd
};
} // namespace

std::string
NameOpenCLStatus(cl_int status)
{
  const auto found = std::find_if(std::begin(StatusNames), std::end(StatusNames), [status](const StatusName & entry) {
    return entry.status == status;
  });
  const std::string name = found == std::end(StatusNames) ? "an error that only this driver knows" : found->name;
  return name + " (" + std::to_string(status) + ")";
}

bool
MeansOutOfMemory(cl_int status)
{
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
}

bool
MeansDeviceLost(cl_int status)
{
  return status == CL_DEVICE_NOT_AVAILABLE || status == CL_INVALID_COMMAND_QUEUE || status == CL_INVALID_CONTEXT;
}

void
ThrowOpenCLError(const std::string & deviceName, const cl::Error & error)
{
  const std::string text = deviceName + ": " + DescribeOpenCLError(error);
  if (MeansOutOfMemory(error.err()))
  {
    throw OutOfMemoryError(text + "; use smaller images or another device");
  }
  if (MeansDeviceLost(error.err()))
  {
    throw DeviceLostError(text + "; choose another device, or start the program again");
  }
  throw Error(text + "; choose another device if it happens again");
}

std::string
DescribeOpenCLError(const cl::Error & error)
{
  return std::string(error.what()) + " failed: " + NameOpenCLStatus(error.err());
}

} // namespace gpureg
