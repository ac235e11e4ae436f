// SPDX-License-Identifier: Apache-2.0
// The partial volume metric's passes in OpenCL.
#include "PartialVolumePasses.h"

#include "OpenCLEntropyPasses.h"

namespace gpureg
{

std::unique_ptr<PartialVolumePasses>
OpenCLQueue::CreatePartialVolumePasses()
{
  return std::make_unique<OpenCLEntropyPasses<PartialVolumeArguments>>(*this, OpenCLPartialVolumeSource);
}

} // namespace gpureg
