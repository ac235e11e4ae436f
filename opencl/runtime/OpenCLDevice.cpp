// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLDevice.h"

#include "opencl/runtime/OpenCLError.h"
#include "opencl/runtime/OpenCLProgram.h"

#include "kernels/core/Prelude.h"
#include "kernels/core/LaneLimits.h"

#include <cstdlib>

namespace gpureg
{

namespace
{
// Enough lanes to hide latency and to reduce in a few steps; every GPU since OpenCL 1.2 supports groups of this size.
constexpr std::size_t PreferredLanes = 256;

// Groups in flight at once on a compute unit of a GPU.
constexpr int GroupsPerComputeUnit = 4;

// Groups on a CPU, which needs no more than a few for each thread; constant, so that sums are partitioned identically on all CPUs.
constexpr int GroupsOnCpu = 64;

/** Returns the largest power of two up to PreferredLanes for which the device can hold a group with its lanes' sums.
 *  \throws Error if that is less than a tile's row. */
int
ChooseLanes(std::size_t largestGroup, std::size_t localMemory)
{
  std::size_t lanes = PreferredLanes;
  while (lanes > largestGroup || lanes * kernels::LargestLaneSums * sizeof(float) > localMemory)
  {
    lanes /= 2;
  }
  if (lanes < kernels::TileWidth)
  {
    throw UnsupportedError("its work-groups hold " + std::to_string(largestGroup) + " work-items and " +
                           std::to_string(localMemory) + " bytes of local memory, too few for the kernels");
  }
  return static_cast<int>(lanes);
}

// PoCL 5.0 (LLVM 16, 17) compiled kernels with barriers so that metrics were NaN or crashed, and PoCL 6.0 (LLVM 18) ended the process while
// it compiled; 3.1 passes all tests.
constexpr long FirstWrongPoCL = 5;

/** \throws UnsupportedError for a processor by a version of PoCL that is known to compile wrongly */
void
CheckPoCL(const cl::Platform & platform, const cl::Device & device)
{
  const std::string version = device.getInfo<CL_DRIVER_VERSION>();
  if (platform.getInfo<CL_PLATFORM_NAME>() == "Portable Computing Language" &&
      (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0 &&
      std::strtol(version.c_str(), nullptr, 10) >= FirstWrongPoCL)
  {
    throw UnsupportedError("PoCL " + version +
                           " compiles some kernels wrongly, as all versions from 5.0 on; use the host, or PoCL 3.1");
  }
}
} // namespace

OpenCLDevice::OpenCLDevice(const cl::Device & device)
  : m_Device(device)
  , m_IsGpu((device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0)
  , m_HasDoubles(device.getInfo<CL_DEVICE_DOUBLE_FP_CONFIG>() != 0)
  , m_MemorySize(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>())
  , m_MaximumAllocation(device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>())
  , m_LocalMemorySize(device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>())
  , m_Lanes(ChooseLanes(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>(), m_LocalMemorySize))
  , m_TargetGroups(m_IsGpu ? GroupsPerComputeUnit * static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>())
                           : GroupsOnCpu)
{
  if (!device.getInfo<CL_DEVICE_AVAILABLE>() || !device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>())
  {
    throw UnsupportedError("the device, or its compiler, is not available");
  }
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  CheckPoCL(platform, device);
  m_Name = device.getInfo<CL_DEVICE_NAME>();
  m_Description =
    m_Name + ", " + platform.getInfo<CL_PLATFORM_NAME>() + ", " + std::to_string(m_MemorySize >> 30) + " GiB";
}

cl::Context
OpenCLDevice::GetContext()
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  if (!m_Context())
  {
    m_Context = cl::Context(m_Device);
  }
  return m_Context;
}

cl::Program
OpenCLDevice::GetProgram(const char * source, const std::string & options)
{
  const cl::Context                 context = CheckOpenCL(m_Name, [this] { return GetContext(); });
  const std::lock_guard<std::mutex> lock(m_Mutex);
  const auto                        key = std::make_pair(source, options);
  const auto                        refused = m_RefusedPrograms.find(key);
  if (refused != m_RefusedPrograms.end())
  {
    throw UnsupportedError(refused->second);
  }
  cl::Program & program = m_Programs[key];
  if (!program())
  {
    const std::string all = "-cl-std=CL1.2 -DGPUREG_LANES=" + std::to_string(m_Lanes) +
                            " -DGPUREG_IS_GPU=" + (m_IsGpu ? "1 " : "0 ") + options;
    try
    {
      program = BuildOpenCLProgram(context, m_Device, m_Name, source, all);
    }
    catch (const UnsupportedError & error)
    {
      m_RefusedPrograms[key] = error.what();
      throw;
    }
  }
  return program;
}

} // namespace gpureg
