// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLStructSizes_h
#define gpureg_OpenCLStructSizes_h

#include <string>

namespace gpureg
{

/** Lines of OpenCL C that define GPUREG_BYTES_OF_X, the host's size, of each structure X that kernels are handed as bytes, or may be. They
 *  stand before every program, and EmbedKernels.cmake has it compare all structures that it has: it does not compile where the two
 *  compilers disagree, nor where one is missing here. */
const std::string &
GetStructSizes();

} // namespace gpureg

#endif
