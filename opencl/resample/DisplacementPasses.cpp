// SPDX-License-Identifier: Apache-2.0
// From places to displacements, in OpenCL: the launch. The entry point is in opencl/resample/DisplacementKernels.cl, the formula in
// src/kernels/resample/Displacement.h; the plain version is src/host/resample/DisplacementPasses.cpp.
#include "engine/resample/DisplacementPasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <string>

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLDisplacementPasses : public DisplacementPasses
{
public:
  explicit OpenCLDisplacementPasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLDisplacementSource)
  {}

  void
  Displace(const DisplacementArguments & a, std::int64_t count, Memory & places) override
  {
    CheckHasDoubles(m_Queue.GetDevice());
    m_Kernels.Launch("Displace", GetRealOption(Precision::Double), count, a, cl_long{ count }, BufferOf(places));
  }

private:
  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<DisplacementPasses>
MakePassesOn<DeviceKind::OpenCL, DisplacementPasses>(Queue & queue)
{
  return std::make_unique<OpenCLDisplacementPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
