// SPDX-License-Identifier: Apache-2.0
// Similarities from sums, in plain loops: the reference that every device is tested against.
// src/kernels/metric/SimilaritySumKernels.h has the counterpart for CUDA and OpenCL.
#include "host/runtime/HostQueue.h"

#include "engine/metric/SimilarityPasses.h"

namespace gpureg
{

using namespace kernels;

namespace
{
class HostSimilarityPasses : public SimilarityPasses
{
public:
  explicit HostSimilarityPasses(HostQueue & queue)
    : m_Queue(queue)
  {}

  void
  Find(const SimilaritySums & a, const Memory & partials, Memory & evaluated) override
  {
    float sums[2 * MostPairSums] = {};
    m_Queue.CountLaunch();
    for (int chunk = 0; chunk < a.chunks; ++chunk)
    {
      AddSumsOfChunk(&a, m_Queue.AddressIn<const float>(partials), chunk, sums);
    }
    FindSimilarity(&a, sums, m_Queue.AddressIn<float>(evaluated));
  }

private:
  HostQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<SimilarityPasses>
MakePassesOn<DeviceKind::Host, SimilarityPasses>(Queue & queue)
{
  return std::make_unique<HostSimilarityPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
