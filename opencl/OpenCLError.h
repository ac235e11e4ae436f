// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLError_h
#define gpureg_OpenCLError_h

#include "OpenCLBindings.h"

#include "gpureg/Error.h"

#include <string>

namespace gpureg
{

/** "CL_OUT_OF_RESOURCES (-5)". */
std::string
NameOpenCLStatus(cl_int status);

/** "clFinish failed: CL_OUT_OF_RESOURCES (-5)". */
std::string
DescribeOpenCLError(const cl::Error & error);

/** Returns what work() returns. What OpenCL reports becomes an Error that says on which device which call
 *  failed, and why. */
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
    throw Error(deviceName + ": " + DescribeOpenCLError(error) + "; choose another device if it happens again");
  }
}

} // namespace gpureg

#endif
