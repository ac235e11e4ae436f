// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTrap_h
#define CudaTrap_h

namespace gpuregtest
{

/** Runs a kernel that traps, so that the device is lost for this process, as by a fault of another library's kernel. */
void
LoseCudaDevice();

} // namespace gpuregtest

#endif
