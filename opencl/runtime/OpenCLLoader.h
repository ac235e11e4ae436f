// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLLoader_h
#define gpureg_OpenCLLoader_h

#include <string>

namespace gpureg
{

/** Opens the system's OpenCL library, once, and returns the reason why it cannot be used; empty if it can. Every cl… function looks up
 *  its counterpart in that library when it is first called, so a machine without OpenCL runs the same binary. A function that the
 *  library lacks throws Error when it is called.
 *  \throws nothing */
const std::string &
GetOpenCLLoaderComplaint();

} // namespace gpureg

#endif
