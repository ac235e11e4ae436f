// SPDX-License-Identifier: Apache-2.0
// The penalties of a free-form deformation in OpenCL: launches. The entry points are in opencl/penalty/ControlPenaltyKernels.cl,
// what a group does in src/kernels/penalty/ControlPenaltyKernels.h; the plain version is src/host/penalty/ControlPenaltyPasses.cpp.
#include "engine/penalty/ControlPenaltyPasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <string>

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLControlPenaltyPasses : public ControlPenaltyPasses
{
public:
  explicit OpenCLControlPenaltyPasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLControlPenaltySource)
    , m_Options(GetRealOption(Precision::Single))
  {}

  std::int64_t
  CountPartials(const ControlPenaltyArguments & a) const override
  {
    const std::int64_t lanes = m_Queue.GetDevice().GetLanes();
    return (CountNodes(&a) + lanes - 1) / lanes;
  }

  void
  FindEnergies(const ControlPenaltyArguments & a,
               const Memory &                  points,
               Memory &                        partials,
               std::int64_t                    firstPartial,
               Memory *                        nodeDerivatives) override
  {
    m_Kernels.Launch("FindEnergies",
                     m_Options,
                     CountNodes(&a),
                     a,
                     BufferOf(points),
                     BufferOf(partials),
                     cl_long{ firstPartial },
                     cl_int{ nodeDerivatives != nullptr },
                     BufferOf(nodeDerivatives ? *nodeDerivatives : partials));
  }

  void
  CollectGradient(const ControlPenaltyArguments & a,
                  const Memory &                  nodeDerivatives,
                  float                           factor,
                  bool                            adds,
                  Memory &                        gradient) override
  {
    m_Kernels.Launch("CollectGradient",
                     m_Options,
                     CountControlPoints(&a),
                     a,
                     BufferOf(nodeDerivatives),
                     factor,
                     cl_int{ adds },
                     BufferOf(gradient));
  }

private:
  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
  std::string   m_Options;
};
} // namespace

template <>
std::unique_ptr<ControlPenaltyPasses>
MakePassesOn<DeviceKind::OpenCL, ControlPenaltyPasses>(Queue & queue)
{
  return std::make_unique<OpenCLControlPenaltyPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
