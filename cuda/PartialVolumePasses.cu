// SPDX-License-Identifier: Apache-2.0
// The partial volume metric's passes in CUDA.
#include "CudaEntropyPasses.h"

#include "PartialVolumePasses.h"

namespace gpureg
{

std::unique_ptr<PartialVolumePasses>
CudaQueue::CreatePartialVolumePasses()
{
  return std::make_unique<CudaEntropyPasses<PartialVolumeArguments>>(*this);
}

} // namespace gpureg
