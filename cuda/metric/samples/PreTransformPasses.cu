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
constexpr int MoveLanes = 256;
constexpr int SumLanes = 256;
// Eight for each of an H200's multiprocessors.
constexpr i64 MostGroups = 1056;

__global__ void
__launch_bounds__(MoveLanes) MoveByPreTransformsKernel(const __grid_constant__ PreTransformArguments a,
                                                       i64                                           count,
                                                       const i64 *                                   points,
                                                       const ChainPart *                             parts,
                                                       const float4 *                                vectors,
                                                       float *                                       displacement)
{
  const i64 sample = i64{ blockIdx.x } * MoveLanes + threadIdx.x;
  if (sample < count)
  {
    float moved[3];
    MoveByPreTransforms(&a, points, parts, vectors, sample, moved);
    displacement[3 * sample] = moved[0];
    displacement[3 * sample + 1] = moved[1];
    displacement[3 * sample + 2] = moved[2];
  }
}

__global__ void
__launch_bounds__(MoveLanes) MovePreciselyKernel(const __grid_constant__ PreTransformArguments a,
                                                 i64                                           count,
                                                 const i64 *                                   points,
                                                 const ChainPart *                             parts,
                                                 const i64 *                                   vectors,
                                                 i64 *                                         precise,
                                                 float *                                       displacement)
{
  const i64 sample = i64{ blockIdx.x } * MoveLanes + threadIdx.x;
  if (sample < count)
  {
    i64   moved[3];
    float rounded[3];
    MoveByPreTransformsPrecisely(&a, points, parts, vectors, sample, moved);
    RoundPreTransformMove(moved, rounded);
    for (int r = 0; r < 3; ++r)
    {
      precise[3 * sample + r] = moved[r];
      displacement[3 * sample + r] = rounded[r];
    }
  }
}

__global__ void
__launch_bounds__(MoveLanes)
  CarryKernel(const __grid_constant__ PreTransformCarry carry, i64 count, const i64 * precise, i64 * moves)
{
  const i64 sample = i64{ blockIdx.x } * MoveLanes + threadIdx.x;
  if (sample < count)
  {
    i64 moved[3] = { precise[3 * sample], precise[3 * sample + 1], precise[3 * sample + 2] };
    CarryPrecisely(carry.entries, moved);
    for (int r = 0; r < 3; ++r)
    {
      moves[3 * sample + r] = moved[r];
    }
  }
}

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
  Move(const PreTransformArguments & a,
       std::int64_t                  count,
       const Memory *                points,
       const ChainArrays &           grids,
       Memory &                      displacement) override
  {
    m_Queue.LaunchFor("moving samples by grids",
                      MoveByPreTransformsKernel,
                      count,
                      MoveLanes,
                      a,
                      i64{ count },
                      points ? AddressIn<const i64>(*points) : nullptr,
                      AddressOf<const ChainPart>(grids.parts),
                      AddressOf<const float4>(grids.vectors),
                      AddressIn<float>(displacement));
  }

  void
  MovePrecisely(const PreTransformArguments & a,
                std::int64_t                  count,
                const Memory *                points,
                const ChainArrays &           grids,
                Memory &                      precise,
                Memory &                      displacement) override
  {
    m_Queue.LaunchFor("moving samples by grids in integers",
                      MovePreciselyKernel,
                      count,
                      MoveLanes,
                      a,
                      i64{ count },
                      points ? AddressIn<const i64>(*points) : nullptr,
                      AddressOf<const ChainPart>(grids.parts),
                      AddressOf<const i64>(grids.vectors),
                      AddressIn<i64>(precise),
                      AddressIn<float>(displacement));
  }

  void
  Carry(const PreTransformCarry & carry, std::int64_t count, const Memory & precise, Memory & moves) override
  {
    m_Queue.LaunchFor("carrying displacements",
                      CarryKernel,
                      count,
                      MoveLanes,
                      carry,
                      i64{ count },
                      AddressIn<const i64>(precise),
                      AddressIn<i64>(moves));
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
