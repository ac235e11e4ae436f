// SPDX-License-Identifier: Apache-2.0
// The partial volume metric's passes in CUDA.
#include "cuda/metric/histogram/CudaEntropyPasses.h"

#include "engine/metric/histogram/PartialVolumePasses.h"

namespace gpureg
{

template <>
std::unique_ptr<PartialVolumePasses>
MakePassesOn<DeviceKind::Cuda, PartialVolumePasses>(Queue & queue)
{
  return std::make_unique<CudaEntropyPasses<PartialVolumeArguments>>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
