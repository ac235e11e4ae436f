// SPDX-License-Identifier: Apache-2.0
// The numbers of a line of control points in OpenCL: launches. The entry points are in opencl/registration/free_form/ControlLineKernels.cl;
// the plain version is src/host/registration/free_form/ControlLinePasses.cpp.
#include "engine/registration/free_form/ControlLinePasses.h"

#include "opencl/runtime/OpenCLKernels.h"

namespace gpureg
{

namespace
{
class OpenCLControlLinePasses : public ControlLinePasses
{
public:
  explicit OpenCLControlLinePasses(OpenCLQueue & queue)
    : m_Lanes(queue.GetDevice().GetLanes())
    , m_Kernels(queue, OpenCLControlStepSource)
  {}

  void
  FindConjugation(std::int64_t   count,
                  bool           isConjugate,
                  const Memory & gradient,
                  const Memory & lastGradient,
                  Memory &       numbers) override
  {
    m_Kernels.Launch("Conjugate",
                     GetRealOption(Precision::Single),
                     m_Lanes,
                     cl_long{ count },
                     cl_int{ isConjugate },
                     BufferOf(gradient),
                     BufferOf(lastGradient),
                     BufferOf(numbers),
                     GetScratch());
  }

  void
  FindLongest(std::int64_t count, const Memory & direction, Memory & numbers) override
  {
    m_Kernels.Launch("FindLongest",
                     GetRealOption(Precision::Single),
                     m_Lanes,
                     cl_long{ count },
                     BufferOf(direction),
                     BufferOf(numbers),
                     GetScratch());
  }

private:
  cl::LocalSpaceArg
  GetScratch() const
  {
    return cl::Local(sizeof(float) * static_cast<std::size_t>(m_Lanes));
  }

  std::int64_t  m_Lanes;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<ControlLinePasses>
MakePassesOn<DeviceKind::OpenCL, ControlLinePasses>(Queue & queue)
{
  return std::make_unique<OpenCLControlLinePasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
