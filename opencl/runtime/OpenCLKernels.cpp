// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLKernels.h"

#include "gpureg/core/Error.h"

namespace gpureg
{

OpenCLKernels::OpenCLKernels(OpenCLQueue & queue, const char * source)
  : m_Queue(queue)
  , m_Source(source)
{}

cl::Kernel &
OpenCLKernels::Get(const std::string & name, const std::string & options)
{
  const std::pair<std::string, std::string> key(options, name);
  const auto                                found = m_Kernels.find(key);
  if (found != m_Kernels.end())
  {
    return found->second;
  }
  const cl::Program program = m_Queue.GetDevice().GetProgram(m_Source, options);
  const cl::Kernel  kernel = CheckOpenCL(m_Queue.GetDeviceName(), [&] { return cl::Kernel(program, name.c_str()); });
  return m_Kernels.emplace(key, kernel).first->second;
}

void
CheckHasDoubles(const OpenCLDevice & device)
{
  if (!device.HasDoubles())
  {
    throw UnsupportedError(device.GetName() + " cannot compute in double precision; use another device");
  }
}

std::string
GetRealOption(Precision precision)
{
  return precision == Precision::Double ? "-DGPUREG_REAL=double" : "-DGPUREG_REAL=float";
}

} // namespace gpureg
