// SPDX-License-Identifier: Apache-2.0
// From places to displacements, in OpenCL: the launch. The entry point is in opencl/DisplacementKernels.cl, the formula in
// src/kernels/Displacement.h; the plain version is src/host/DisplacementPasses.cpp.
#include "DisplacementPasses.h"

#include "OpenCLKernels.h"

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

std::unique_ptr<DisplacementPasses>
OpenCLQueue::CreateDisplacementPasses()
{
  return std::make_unique<OpenCLDisplacementPasses>(*this);
}

} // namespace gpureg
