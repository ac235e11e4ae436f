// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaError_h
#define gpureg_CudaError_h

#include <cuda.h>
#include <cuda_runtime.h>

#include <string>

namespace gpureg
{

/** Whether an error sticks: every later call of this process for the device fails with it, too, and what was there is
 *  lost. It follows from the error alone. Asking the device would wait for all that it does, and make a context on it
 *  where there is none. */
bool
IsSticking(cudaError_t status);

/** Of the CUDA runtime. Waits for nothing and makes no context.
 *  \throws Error that says what failed, where and why, unless status is cudaSuccess. */
void
CheckCuda(cudaError_t status, const char * what, const std::string & deviceName);

/** The same of the driver, whose errors have the runtime's numbers. */
void
CheckDriver(CUresult result, const char * what, int device);

} // namespace gpureg

#endif
