// SPDX-License-Identifier: Apache-2.0
// From places to displacements, in CUDA: the entry point and its launch. The formula is in src/kernels/resample/Displacement.h; the plain version
// is src/host/resample/DisplacementPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/resample/DisplacementPasses.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int DisplacementLanes = 256;

__global__ void
__launch_bounds__(DisplacementLanes)
  DisplaceKernel(const __grid_constant__ DisplacementArguments a, i64 count, double * places)
{
  const i64 voxel = i64{ blockIdx.x } * DisplacementLanes + threadIdx.x;
  if (voxel < count)
  {
    FindDisplacement(&a, voxel, places);
  }
}

class CudaDisplacementPasses : public DisplacementPasses
{
public:
  explicit CudaDisplacementPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Displace(const DisplacementArguments & a, std::int64_t count, Memory & places) override
  {
    m_Queue.LaunchFor(
      "finding displacements", DisplaceKernel, count, DisplacementLanes, a, i64{ count }, AddressIn<double>(places));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<DisplacementPasses>
MakePassesOn<DeviceKind::Cuda, DisplacementPasses>(Queue & queue)
{
  return std::make_unique<CudaDisplacementPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
