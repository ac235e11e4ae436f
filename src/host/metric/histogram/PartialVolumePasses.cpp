// SPDX-License-Identifier: Apache-2.0
// The host's passes of the partial volume metric.
#include "host/metric/histogram/HostEntropyPasses.h"

#include "engine/metric/histogram/PartialVolumePasses.h"

namespace gpureg
{

template <>
std::unique_ptr<PartialVolumePasses>
MakePassesOn<DeviceKind::Host, PartialVolumePasses>(Queue & queue)
{
  return std::make_unique<HostEntropyPasses<PartialVolumeArguments>>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
