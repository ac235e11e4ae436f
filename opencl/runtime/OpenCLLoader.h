// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLLoader_h
#define gpureg_OpenCLLoader_h

#include <string>

namespace gpureg
{

/** Opens the system's OpenCL library, once, and says why it cannot be used; empty if it can.
 *  Every cl… function is found in it when it is first called, so a machine without OpenCL runs the same
 *  binary. \throws nothing; a function that the library lacks throws Error when it is called. */
const std::string &
GetOpenCLLoaderComplaint();

} // namespace gpureg

#endif
