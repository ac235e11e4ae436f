// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLProgram.h"

#include "opencl/runtime/OpenCLError.h"
#include "opencl/runtime/OpenCLProgramCache.h"
#include "opencl/runtime/OpenCLStructSizes.h"

#include <vector>

namespace gpureg
{

namespace
{
/** Returns a text that contains all that a compiled program depends on. */
std::string
MakeKey(const cl::Platform & platform,
        const cl::Device &   device,
        const std::string &  source,
        const std::string &  options)
{
  return "platform: " + platform.getInfo<CL_PLATFORM_NAME>() +
         "\nplatform version: " + platform.getInfo<CL_PLATFORM_VERSION>() +
         "\ndevice: " + device.getInfo<CL_DEVICE_NAME>() + "\ndevice vendor: " + device.getInfo<CL_DEVICE_VENDOR>() +
         "\ndevice version: " + device.getInfo<CL_DEVICE_VERSION>() +
         "\ndriver: " + device.getInfo<CL_DRIVER_VERSION>() + "\noptions: " + options + "\n" + source;
}

cl::Program
Compile(const cl::Context & context,
        const cl::Device &  device,
        const std::string & deviceName,
        const std::string & source,
        const std::string & options)
{
  cl::Program program(context, source);
  try
  {
    program.build({ device }, options.c_str());
  }
  catch (const cl::Error & error)
  {
    if (MeansOutOfMemory(error.err()) || MeansDeviceLost(error.err()))
    {
      throw;
    }
    throw UnsupportedError(deviceName + ": the kernels do not compile with \"" + options + "\": " +
                           DescribeOpenCLError(error) + "\n" + program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device));
  }
  return program;
}

/** Returns a program made from its binary; none if the driver refuses the binary. */
cl::Program
LoadBinary(const cl::Context &                context,
           const cl::Device &                 device,
           const std::vector<unsigned char> & binary,
           const std::string &                options)
{
  try
  {
    cl::Program program(context, { device }, { binary });
    program.build({ device }, options.c_str());
    // Some drivers examine a binary only when kernels are requested.
    std::vector<cl::Kernel> kernels;
    program.createKernels(&kernels);
    return program;
  }
  catch (const cl::Error &)
  {
    return {};
  }
}

/** Returns the compiled program's binary; none if the driver does not provide it. */
std::vector<unsigned char>
GetBinary(const cl::Program & program)
{
  try
  {
    const auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
    return binaries.empty() ? std::vector<unsigned char>() : binaries.front();
  }
  catch (const cl::Error &)
  {
    return {};
  }
}
} // namespace

cl::Program
BuildOpenCLProgram(const cl::Context & context,
                   const cl::Device &  device,
                   const std::string & deviceName,
                   const char *        source,
                   const std::string & options)
{
  return CheckOpenCL(deviceName, [&] {
    const cl::Platform               platform(device.getInfo<CL_DEVICE_PLATFORM>());
    const std::string                folder = OpenCLProgramCache::FindFolder(platform.getInfo<CL_PLATFORM_NAME>());
    const OpenCLProgramCache         cache(folder);
    const std::string                text = GetStructSizes() + source;
    const std::string                key = MakeKey(platform, device, text, options);
    const std::vector<unsigned char> cached = cache.Load(key);
    if (!cached.empty())
    {
      const cl::Program program = LoadBinary(context, device, cached, options);
      if (program())
      {
        return program;
      }
    }
    const cl::Program program = Compile(context, device, deviceName, text, options);
    // Some drivers compile all kernels when the binary is requested, even if nobody needs them.
    const std::vector<unsigned char> binary = folder.empty() ? std::vector<unsigned char>() : GetBinary(program);
    if (!binary.empty())
    {
      cache.Store(key, binary);
    }
    return program;
  });
}

} // namespace gpureg
