// SPDX-License-Identifier: Apache-2.0
// Computes a similarity from sums in CUDA: entry point and launch. src/kernels/metric/SimilaritySumKernels.h has the group's work; the
// plain version is src/host/metric/SimilarityPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/metric/SimilarityPasses.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/SimilaritySumKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int SumLanes = 256;

__global__ void
__launch_bounds__(SumLanes)
  SimilarityKernel(const __grid_constant__ SimilaritySums a, const float * partials, float * evaluated)
{
  __shared__ float scratch[2 * MostMoments * SumLanes];
  SimilarityGroup(&a, partials, scratch, evaluated);
}

class CudaSimilarityPasses : public SimilarityPasses
{
public:
  explicit CudaSimilarityPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Find(const SimilaritySums & a, const Memory & partials, Memory & evaluated) override
  {
    m_Queue.LaunchFor("finding a similarity",
                      SimilarityKernel,
                      i64{ SumLanes },
                      SumLanes,
                      a,
                      AddressIn<const float>(partials),
                      AddressIn<float>(evaluated));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<SimilarityPasses>
MakePassesOn<DeviceKind::Cuda, SimilarityPasses>(Queue & queue)
{
  return std::make_unique<CudaSimilarityPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
