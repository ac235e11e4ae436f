// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_OpenCLProgram_h
#define gpureg_OpenCLProgram_h

#include "OpenCLBindings.h"

#include <string>

namespace gpureg
{

/** Prelude.cl, the headers of src/kernels and MattesKernels.cl in one text: see EmbedKernels.cmake. */
extern const char * const OpenCLKernelSource;

/** The kernels compiled with these options for a device, from the cache on disk (OpenCLProgramCache) where
 *  it has them; what was compiled anew is put there.
 *  \throws Error with the compiler's messages. */
cl::Program
BuildOpenCLProgram(const cl::Context & context,
                   const cl::Device &  device,
                   const std::string & deviceName,
                   const std::string & options);

} // namespace gpureg

#endif
