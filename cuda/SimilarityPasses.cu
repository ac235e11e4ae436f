// SPDX-License-Identifier: Apache-2.0
// What makes a similarity of sums in CUDA: entry point and launch. What the group does is in src/kernels/SimilaritySumKernels.h; the
// plain version is src/host/SimilarityPasses.cpp.
#include "CudaQueue.h"

#include "SimilarityPasses.h"

#include "LaneReduction.h"
#include "ForceKernels.h"
#include "SimilaritySumKernels.h"

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

std::unique_ptr<SimilarityPasses>
CudaQueue::CreateSimilarityPasses()
{
  return std::make_unique<CudaSimilarityPasses>(*this);
}

} // namespace gpureg
