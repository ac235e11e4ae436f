// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaDriver_h
#define gpureg_CudaDriver_h

#include <cuda.h>
#include <cuda_runtime.h>

namespace gpureg
{

/** Finds a function of the driver, as of CUDA 11.8, through the runtime: a library linked with the driver would need one on every
 *  machine.
 *  \param function becomes null if the driver has none of that name, or if an error is returned. */
template <typename TFunction>
cudaError_t
FindDriverFunction(const char * name, TFunction * function)
{
  void * address = nullptr;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &address, 11080, cudaEnableDefault);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault);
#endif
  *function = status == cudaSuccess ? reinterpret_cast<TFunction>(address) : nullptr;
  return status;
}

} // namespace gpureg

#endif
