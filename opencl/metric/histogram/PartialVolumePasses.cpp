// SPDX-License-Identifier: Apache-2.0
// The partial volume metric's passes in OpenCL.
#include "engine/metric/histogram/PartialVolumePasses.h"

#include "opencl/metric/histogram/OpenCLEntropyPasses.h"

namespace gpureg
{

template <>
std::unique_ptr<PartialVolumePasses>
MakePassesOn<DeviceKind::OpenCL, PartialVolumePasses>(Queue & queue)
{
  return std::make_unique<OpenCLEntropyPasses<PartialVolumeArguments>>(static_cast<OpenCLQueue &>(queue),
                                                                       OpenCLPartialVolumeSource);
}

} // namespace gpureg
