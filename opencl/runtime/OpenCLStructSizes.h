// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLStructSizes_h
#define gpureg_OpenCLStructSizes_h

#include <string>

namespace gpureg
{

/** Returns lines of OpenCL C that define GPUREG_BYTES_OF_X, the host's size, of each structure X that may be passed to kernels as bytes.
 *  Every program begins with them, and EmbedKernels.cmake appends a comparison of all its structures: a program does not compile if the
 *  two compilers disagree, or if a structure is missing here. */
const std::string &
GetStructSizes();

} // namespace gpureg

#endif
