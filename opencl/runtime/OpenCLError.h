// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLError_h
#define gpureg_OpenCLError_h

#include "opencl/runtime/OpenCLBindings.h"

#include "gpureg/core/Error.h"

#include <string>

namespace gpureg
{

/** Returns a status as text: "CL_OUT_OF_RESOURCES (-5)". */
std::string
NameOpenCLStatus(cl_int status);

/** Returns an error as text: "clFinish failed: CL_OUT_OF_RESOURCES (-5)". */
std::string
DescribeOpenCLError(const cl::Error & error);

/** Returns true if the status says that a device had too little memory. */
bool
MeansOutOfMemory(cl_int status);

/** Returns true if the status says that the device was lost: drivers answer so to every call after a kernel's fault, or once the device
 *  was taken away. */
bool
MeansDeviceLost(cl_int status);

/** Throws an error that says which call failed on which device, and why, of the class that belongs to the status. */
[[noreturn]] void
ThrowOpenCLError(const std::string & deviceName, const cl::Error & error);

/** Returns the result of work(). \throws Error in place of each error that OpenCL reports */
template <typename TWork>
auto
CheckOpenCL(const std::string & deviceName, const TWork & work)
{
  try
  {
    return work();
  }
  catch (const cl::Error & error)
  {
    ThrowOpenCLError(deviceName, error);
  }
}

} // namespace gpureg

#endif
