// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes in CUDA.
#include "CudaEntropyPasses.h"

#include "MattesPasses.h"

namespace gpureg
{

std::unique_ptr<MattesPasses>
CudaQueue::CreateMattesPasses()
{
  return std::make_unique<CudaEntropyPasses<MattesArguments>>(*this);
}

} // namespace gpureg
