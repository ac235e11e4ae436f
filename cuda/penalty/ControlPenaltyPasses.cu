// SPDX-License-Identifier: Apache-2.0
// The penalties of a free-form deformation in CUDA: entry points and launches. What a group does is in
// src/kernels/penalty/ControlPenaltyKernels.h; the plain version is src/host/penalty/ControlPenaltyPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/penalty/ControlPenaltyPasses.h"

#include "kernels/penalty/ControlPenaltyKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int NodeLanes = 128;
constexpr int PointLanes = 64;

__global__ void
__launch_bounds__(NodeLanes) FindEnergiesKernel(const __grid_constant__ ControlPenaltyArguments a,
                                                const float4 *                                  points,
                                                float *                                         partials,
                                                float4 *                                        nodeDerivatives)
{
  __shared__ float scratch[2 * NodeLanes];
  FindEnergiesGroup(&a, points, scratch, partials, nodeDerivatives != nullptr, nodeDerivatives);
}

__global__ void
__launch_bounds__(PointLanes) CollectGradientKernel(const __grid_constant__ ControlPenaltyArguments a,
                                                    const float4 *                                  nodeDerivatives,
                                                    float                                           factor,
                                                    int                                             adds,
                                                    float4 *                                        gradient)
{
  CollectNumberedPoint(&a, nodeDerivatives, i64{ blockIdx.x } * PointLanes + threadIdx.x, factor, adds, gradient);
}

class CudaControlPenaltyPasses : public ControlPenaltyPasses
{
public:
  explicit CudaControlPenaltyPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  std::int64_t
  CountPartials(const ControlPenaltyArguments & a) const override
  {
    return (CountNodes(&a) + NodeLanes - 1) / NodeLanes;
  }

  void
  FindEnergies(const ControlPenaltyArguments & a,
               const Memory &                  points,
               Memory &                        partials,
               std::int64_t                    firstPartial,
               Memory *                        nodeDerivatives) override
  {
    m_Queue.LaunchFor("finding energies of nodes",
                      FindEnergiesKernel,
                      CountNodes(&a),
                      NodeLanes,
                      a,
                      AddressIn<const float4>(points),
                      AddressIn<float>(partials) + 2 * firstPartial,
                      nodeDerivatives ? AddressIn<float4>(*nodeDerivatives) : nullptr);
  }

  void
  CollectGradient(const ControlPenaltyArguments & a,
                  const Memory &                  nodeDerivatives,
                  float                           factor,
                  bool                            adds,
                  Memory &                        gradient) override
  {
    m_Queue.LaunchFor("collecting a gradient of control points",
                      CollectGradientKernel,
                      CountControlPoints(&a),
                      PointLanes,
                      a,
                      AddressIn<const float4>(nodeDerivatives),
                      factor,
                      static_cast<int>(adds),
                      AddressIn<float4>(gradient));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlPenaltyPasses>
MakePassesOn<DeviceKind::Cuda, ControlPenaltyPasses>(Queue & queue)
{
  return std::make_unique<CudaControlPenaltyPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
