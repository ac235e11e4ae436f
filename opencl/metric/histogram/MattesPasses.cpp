// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes in OpenCL.
#include "engine/metric/histogram/MattesPasses.h"

#include "opencl/metric/histogram/OpenCLEntropyPasses.h"

namespace gpureg
{

template <>
std::unique_ptr<MattesPasses>
MakePassesOn<DeviceKind::OpenCL, MattesPasses>(Queue & queue)
{
  return std::make_unique<OpenCLEntropyPasses<MattesArguments>>(static_cast<OpenCLQueue &>(queue), OpenCLMattesSource);
}

} // namespace gpureg
