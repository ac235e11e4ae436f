// SPDX-License-Identifier: Apache-2.0
#include "CudaTrap.h"

#include <cuda_runtime.h>

namespace
{
__global__ void
Trap()
{
  asm("trap;");
}
} // namespace

void
gpuregtest::LoseCudaDevice()
{
  Trap<<<1, 1>>>();
  cudaDeviceSynchronize();
}
