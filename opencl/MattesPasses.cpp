// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes in OpenCL.
#include "MattesPasses.h"

#include "OpenCLEntropyPasses.h"

namespace gpureg
{

std::unique_ptr<MattesPasses>
OpenCLQueue::CreateMattesPasses()
{
  return std::make_unique<OpenCLEntropyPasses<MattesArguments>>(*this, OpenCLMattesSource);
}

} // namespace gpureg
