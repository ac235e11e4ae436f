// SPDX-License-Identifier: Apache-2.0
// The host's passes of the Mattes metric.
#include "host/metric/histogram/HostEntropyPasses.h"

#include "engine/metric/histogram/MattesPasses.h"

namespace gpureg
{

template <>
std::unique_ptr<MattesPasses>
MakePassesOn<DeviceKind::Host, MattesPasses>(Queue & queue)
{
  return std::make_unique<HostEntropyPasses<MattesArguments>>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
