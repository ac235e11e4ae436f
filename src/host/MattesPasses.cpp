// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes on the host.
#include "HostEntropyPasses.h"

#include "MattesPasses.h"

namespace gpureg
{

std::unique_ptr<MattesPasses>
HostQueue::CreateMattesPasses()
{
  return std::make_unique<HostEntropyPasses<MattesArguments>>(*this);
}

} // namespace gpureg
