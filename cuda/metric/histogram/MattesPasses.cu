// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes in CUDA.
#include "cuda/metric/histogram/CudaEntropyPasses.h"

#include "engine/metric/histogram/MattesPasses.h"

namespace gpureg
{

namespace
{
template <>
constexpr bool HasFieldVariants<MattesArguments> = true;
} // namespace

template <>
std::unique_ptr<MattesPasses>
MakePassesOn<DeviceKind::Cuda, MattesPasses>(Queue & queue)
{
  return std::make_unique<CudaEntropyPasses<MattesArguments>>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
