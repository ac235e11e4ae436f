// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaError_h
#define gpureg_CudaError_h

#include <cuda.h>
#include <cuda_runtime.h>

#include <string>

namespace gpureg
{

/** Returns true if an error sticks: every later call of this process for the device fails with it, too, and the device's memory is lost.
 *  The answer follows from the status alone: querying the device would wait for its work, and make a context where there is none. */
bool
IsSticking(cudaError_t status);

/** Checks the status of a call of the CUDA runtime. Waits for nothing and makes no context.
 *  \throws Error that says what failed, where and why, unless status is cudaSuccess. */
void
CheckCuda(cudaError_t status, const char * what, const std::string & deviceName);

/** Checks the result of a call of the driver, whose errors have the runtime's numbers. \throws Error as CheckCuda does. */
void
CheckDriver(CUresult result, const char * what, int device);

} // namespace gpureg

#endif
