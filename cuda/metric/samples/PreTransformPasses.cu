// SPDX-License-Identifier: Apache-2.0
// Grids before a linear transform that is optimised, in CUDA: entry points and launches. What a lane does is in
// src/kernels/metric/samples/PreTransformMoves.h, what a group does in src/kernels/metric/samples/PreTransformKernels.h; the plain version is
// src/host/metric/samples/PreTransformPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/metric/samples/PreTransformPasses.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/samples/PreTransformKernels.h"

#include <algorithm>

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int SumLanes = 256;
// Eight for each of an H200's multiprocessors.
constexpr i64 MostGroups = 1056;

__global__ void
__launch_bounds__(SumLanes) SumPreTransformForcesKernel(const __grid_constant__ PreTransformArguments a,
                                                        i64                                           count,
                                                        const i64 *                                   points,
                                                        const float *                                 displacement,
                                                        const float *                                 forces,
                                                        float *                                       partials)
{
  __shared__ float scratch[2 * ForceSumCount * SumLanes];
  SumPreTransformForcesGroup(&a, count, points, displacement, forces, scratch, partials);
}

class CudaPreTransformPasses : public PreTransformPasses
{
public:
  explicit CudaPreTransformPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  int
  CountGroups(std::int64_t count) const override
  {
    return static_cast<int>(std::clamp<i64>(count / SumLanes, 1, MostGroups));
  }

  void
  SumForces(const PreTransformArguments & a,
            std::int64_t                  count,
            const Memory *                points,
            const Memory &                displacement,
            const Memory &                forces,
            Memory &                      partials) override
  {
    m_Queue.LaunchFor("summing forces behind grids",
                      SumPreTransformForcesKernel,
                      i64{ a.groupCount } * SumLanes,
                      SumLanes,
                      a,
                      i64{ count },
                      points ? AddressIn<const i64>(*points) : nullptr,
                      AddressIn<const float>(displacement),
                      AddressIn<const float>(forces),
                      AddressIn<float>(partials));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<PreTransformPasses>
MakePassesOn<DeviceKind::Cuda, PreTransformPasses>(Queue & queue)
{
  return std::make_unique<CudaPreTransformPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
