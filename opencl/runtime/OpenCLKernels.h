// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLKernels_h
#define gpureg_OpenCLKernels_h

#include "opencl/runtime/OpenCLError.h"
#include "opencl/runtime/OpenCLProgram.h"
#include "opencl/runtime/OpenCLQueue.h"

#include "gpureg/core/Precision.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace gpureg
{

/** Holds the kernels of a source, each compiled or loaded when it is first requested. Each object has kernels of its own, since setting
 *  a kernel's arguments is not thread-safe. */
class OpenCLKernels
{
public:
  /** \param queue must outlive this object. */
  OpenCLKernels(OpenCLQueue & queue, const char * source);

  /** Returns a kernel. \param options compiler options. \throws Error with the compiler's messages. */
  cl::Kernel &
  Get(const std::string & name, const std::string & options);

  /** Enqueues a kernel, with one lane for each item. \throws Error */
  template <typename... TArguments>
  void
  Launch(const std::string & name, const std::string & options, std::int64_t items, const TArguments &... arguments)
  {
    cl::Kernel &       kernel = this->Get(name, options);
    const std::int64_t lanes = m_Queue.GetDevice().GetLanes();
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel, arguments...);
      m_Queue.Launch(kernel, (items + lanes - 1) / lanes, 1);
    });
  }

private:
  OpenCLQueue & m_Queue;
  const char *  m_Source;
  /** Holds the kernels by options and name. */
  std::map<std::pair<std::string, std::string>, cl::Kernel> m_Kernels;
};

/** \throws UnsupportedError if the device cannot compute in doubles. */
void
CheckHasDoubles(const OpenCLDevice & device);

/** Returns the compiler option that defines real for a source. */
std::string
GetRealOption(Precision precision);

} // namespace gpureg

#endif
