// SPDX-License-Identifier: Apache-2.0
// The numbers of a line of control points in CUDA: entry points and launches. What a group does is in
// src/kernels/registration/free_form/ControlLineKernels.h; the plain version is src/host/registration/free_form/ControlLinePasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/registration/free_form/ControlLinePasses.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/registration/free_form/ControlLineKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// The lanes of the one group that reads all points.
constexpr int GroupLanes = 1024;

__global__ void
__launch_bounds__(GroupLanes)
  ConjugateKernel(i64 count, int isConjugate, const float4 * gradient, const float4 * lastGradient, float * numbers)
{
  __shared__ float scratch[GroupLanes];
  ConjugateGroup(count, isConjugate, gradient, lastGradient, scratch, numbers);
}

__global__ void
__launch_bounds__(GroupLanes) LongestKernel(i64 count, const float4 * direction, float * numbers)
{
  __shared__ float scratch[GroupLanes];
  LongestGroup(count, direction, scratch, numbers);
}

class CudaControlLinePasses : public ControlLinePasses
{
public:
  explicit CudaControlLinePasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  FindConjugation(std::int64_t   count,
                  bool           isConjugate,
                  const Memory & gradient,
                  const Memory & lastGradient,
                  Memory &       numbers) override
  {
    m_Queue.LaunchFor("conjugating a direction",
                      ConjugateKernel,
                      i64{ GroupLanes },
                      GroupLanes,
                      i64{ count },
                      static_cast<int>(isConjugate),
                      AddressIn<const float4>(gradient),
                      AddressIn<const float4>(lastGradient),
                      AddressIn<float>(numbers));
  }

  void
  FindLongest(std::int64_t count, const Memory & direction, Memory & numbers) override
  {
    m_Queue.LaunchFor("measuring a direction",
                      LongestKernel,
                      i64{ GroupLanes },
                      GroupLanes,
                      i64{ count },
                      AddressIn<const float4>(direction),
                      AddressIn<float>(numbers));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlLinePasses>
MakePassesOn<DeviceKind::Cuda, ControlLinePasses>(Queue & queue)
{
  return std::make_unique<CudaControlLinePasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
