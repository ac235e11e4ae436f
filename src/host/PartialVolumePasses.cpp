// SPDX-License-Identifier: Apache-2.0
// The partial volume metric's passes on the host.
#include "HostEntropyPasses.h"

#include "PartialVolumePasses.h"

namespace gpureg
{

std::unique_ptr<PartialVolumePasses>
HostQueue::CreatePartialVolumePasses()
{
  return std::make_unique<HostEntropyPasses<PartialVolumeArguments>>(*this);
}

} // namespace gpureg
