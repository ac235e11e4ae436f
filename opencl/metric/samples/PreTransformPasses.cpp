// SPDX-License-Identifier: Apache-2.0
// Grids before a linear transform that is optimised, in OpenCL: launches. The entry points are in opencl/metric/samples/PreTransformKernels.cl, what
// a group does in src/kernels/metric/samples/PreTransformKernels.h; the plain version is src/host/metric/samples/PreTransformPasses.cpp.
#include "engine/metric/samples/PreTransformPasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
static_assert(std::is_trivially_copyable<PreTransformArguments>::value && alignof(PreTransformArguments) == 4 &&
                std::is_trivially_copyable<PreTransformCarry>::value && sizeof(PreTransformCarry) == 9 * sizeof(i64),
              "kernels get these as bytes");

class OpenCLPreTransformPasses : public PreTransformPasses
{
public:
  explicit OpenCLPreTransformPasses(OpenCLQueue & queue)
    : m_Lanes(queue.GetDevice().GetLanes())
    , m_Groups(queue.GetDevice().GetTargetGroups())
    , m_Kernels(queue, OpenCLPreTransformSource)
  {}

  int
  CountGroups(std::int64_t count) const override
  {
    return static_cast<int>(std::clamp<std::int64_t>(count / m_Lanes, 1, m_Groups));
  }

  void
  SumForces(const PreTransformArguments & a,
            std::int64_t                  count,
            const Memory *                points,
            const Memory &                displacement,
            const Memory &                forces,
            Memory &                      partials) override
  {
    m_Kernels.Launch("SumPreTransformForces",
                     GetOptions(),
                     a.groupCount * m_Lanes,
                     a,
                     cl_long{ count },
                     BufferOf(points ? *points : forces),
                     BufferOf(displacement),
                     BufferOf(forces),
                     cl::Local(2 * ForceSumCount * static_cast<std::size_t>(m_Lanes) * sizeof(float)),
                     BufferOf(partials));
  }

private:
  static std::string
  GetOptions()
  {
    return GetRealOption(Precision::Single);
  }

  std::int64_t  m_Lanes;
  int           m_Groups;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<PreTransformPasses>
MakePassesOn<DeviceKind::OpenCL, PreTransformPasses>(Queue & queue)
{
  return std::make_unique<OpenCLPreTransformPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
