// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLDevice_h
#define gpureg_OpenCLDevice_h

#include "opencl/runtime/OpenCLBindings.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace gpureg
{

/** Describes a device as its driver does, and owns what all its queues share: the context, made with the first queue, and the compiled
 *  programs. Thread-safe. */
class OpenCLDevice
{
public:
  /** Queries the driver; makes no context. \throws cl::Error; Error if the device cannot run the kernels. */
  explicit OpenCLDevice(const cl::Device & device);

  void
  SetName(const std::string & name)
  {
    m_Name = name;
  }

  const std::string &
  GetName() const
  {
    return m_Name;
  }

  /** Returns the model, the platform and the memory, in one line. */
  const std::string &
  GetDescription() const
  {
    return m_Description;
  }

  bool
  IsGpu() const
  {
    return m_IsGpu;
  }

  std::size_t
  GetMemorySize() const
  {
    return m_MemorySize;
  }

  /** Returns the size of the largest buffer in bytes. */
  std::size_t
  GetMaximumAllocation() const
  {
    return m_MaximumAllocation;
  }

  std::size_t
  GetLocalMemorySize() const
  {
    return m_LocalMemorySize;
  }

  /** Returns the number of work-items in a group of every kernel: a power of two, at least kernels::TileWidth. */
  int
  GetLanes() const
  {
    return m_Lanes;
  }

  /** Returns the number of groups that keep the device busy. */
  int
  GetTargetGroups() const
  {
    return m_TargetGroups;
  }

  const cl::Device &
  GetHandle() const
  {
    return m_Device;
  }

  /** Returns the context. \throws cl::Error */
  cl::Context
  GetContext();

  /** Returns the program of a source (see OpenCLProgram.h), compiled with these options or loaded at the first call.
   *  \throws Error with the compiler's messages. */
  cl::Program
  GetProgram(const char * source, const std::string & options);

  /** Returns true if kernels may compute in double precision. */
  bool
  HasDoubles() const
  {
    return m_HasDoubles;
  }

private:
  cl::Device  m_Device;
  std::string m_Name;
  std::string m_Description;
  bool        m_IsGpu;
  bool        m_HasDoubles;
  std::size_t m_MemorySize;
  std::size_t m_MaximumAllocation;
  std::size_t m_LocalMemorySize;
  int         m_Lanes;
  int         m_TargetGroups;
  std::mutex  m_Mutex;
  cl::Context m_Context;
  /** Holds the compiled programs, by source and options. */
  std::map<std::pair<const char *, std::string>, cl::Program> m_Programs;
  /** Holds the reasons why programs do not compile, by source and options, so that nobody waits for the compiler twice. */
  std::map<std::pair<const char *, std::string>, std::string> m_RefusedPrograms;
};

} // namespace gpureg

#endif
