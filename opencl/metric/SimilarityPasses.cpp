// SPDX-License-Identifier: Apache-2.0
// Computes a similarity from sums in OpenCL: the launch. The entry point is in opencl/metric/SimilarityKernels.cl; the plain version is
// src/host/metric/SimilarityPasses.cpp.
#include "engine/metric/SimilarityPasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
static_assert(std::is_trivially_copyable<SimilaritySums>::value && alignof(SimilaritySums) == 4,
              "kernels get it as bytes");

class OpenCLSimilarityPasses : public SimilarityPasses
{
public:
  explicit OpenCLSimilarityPasses(OpenCLQueue & queue)
    : m_Lanes(queue.GetDevice().GetLanes())
    , m_Kernels(queue, OpenCLSimilaritySource)
  {}

  void
  Find(const SimilaritySums & a, const Memory & partials, Memory & evaluated) override
  {
    m_Kernels.Launch("FindSimilarityOfSums",
                     GetRealOption(Precision::Single),
                     m_Lanes,
                     a,
                     BufferOf(partials),
                     BufferOf(evaluated),
                     cl::Local(sizeof(float) * 2 * MostMoments * static_cast<std::size_t>(m_Lanes)));
  }

private:
  std::int64_t  m_Lanes;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<SimilarityPasses>
MakePassesOn<DeviceKind::OpenCL, SimilarityPasses>(Queue & queue)
{
  return std::make_unique<OpenCLSimilarityPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
