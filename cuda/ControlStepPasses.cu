// SPDX-License-Identifier: Apache-2.0
// What a registration does to control points in CUDA: entry points and launches. The formulas are in src/kernels/ControlSteps.h; the
// plain version is src/host/ControlStepPasses.cpp.
#include "CudaQueue.h"

#include "ControlStepPasses.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int Lanes = 128;

/** The work-item's control point; as many as there are, or more. */
__device__ i64
FindPoint()
{
  return i64{ blockIdx.x } * Lanes + threadIdx.x;
}

__global__ void
__launch_bounds__(Lanes) ClearKernel(i64 count, float4 * vectors)
{
  if (FindPoint() < count)
  {
    vectors[FindPoint()] = MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f);
  }
}

__global__ void
__launch_bounds__(Lanes) MoveByAdamKernel(const __grid_constant__ AdamStep a,
                                          i64                              count,
                                          const float *                    evaluated,
                                          float *                          value,
                                          const float4 *                   gathered,
                                          const float4 *                   penalty,
                                          float4 *                         firstMeans,
                                          float4 *                         secondMeans,
                                          float4 *                         points)
{
  if (FindPoint() == 0)
  {
    *value = evaluated[1];
  }
  if (FindPoint() < count)
  {
    MoveByAdam(&a, FindPoint(), evaluated, gathered, penalty, firstMeans, secondMeans, points);
  }
}

__global__ void
__launch_bounds__(Lanes)
  RefineKernel(const __grid_constant__ Refinement a, i64 count, const float4 * coarse, float4 * fine)
{
  if (FindPoint() < count)
  {
    fine[FindPoint()] = RefineControlPoint(&a, coarse, FindPoint());
  }
}

class CudaControlStepPasses : public ControlStepPasses
{
public:
  explicit CudaControlStepPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Clear(std::int64_t count, Memory & vectors) override
  {
    m_Queue.LaunchFor("clearing vectors", ClearKernel, count, Lanes, i64{ count }, AddressIn<float4>(vectors));
  }

  void
  MoveByAdam(const AdamStep & a, std::int64_t count, const AdamArrays & arrays) override
  {
    m_Queue.LaunchFor("moving control points",
                      MoveByAdamKernel,
                      count,
                      Lanes,
                      a,
                      i64{ count },
                      AddressIn<const float>(*arrays.evaluated) + arrays.evaluatedPlace,
                      AddressIn<float>(*arrays.values) + arrays.valuePlace,
                      AddressIn<const float4>(*arrays.gathered),
                      arrays.penalty ? AddressIn<const float4>(*arrays.penalty) : nullptr,
                      AddressIn<float4>(*arrays.firstMeans),
                      AddressIn<float4>(*arrays.secondMeans),
                      AddressIn<float4>(*arrays.points));
  }

  void
  Refine(const Refinement & a, const Memory & coarse, Memory & fine) override
  {
    const i64 count = CountFinePoints(a);
    m_Queue.LaunchFor("refining control points",
                      RefineKernel,
                      count,
                      Lanes,
                      a,
                      count,
                      AddressIn<const float4>(coarse),
                      AddressIn<float4>(fine));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

std::unique_ptr<ControlStepPasses>
CudaQueue::CreateControlStepPasses()
{
  return std::make_unique<CudaControlStepPasses>(*this);
}

} // namespace gpureg
