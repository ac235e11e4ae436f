// SPDX-License-Identifier: Apache-2.0
#include "engine/resample/ResamplePasses.h"

#include "engine/runtime/LaunchGroups.h"

#include "kernels/resample/ResampleKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
class GroupResamplePasses : public ResamplePasses
{
public:
  explicit GroupResamplePasses(Queue & queue)
    : m_Queue(queue)
  {}

  void
  Resample(const ResampleArguments & arguments,
           Precision                 precision,
           const ResampleArrays &    arrays,
           Memory &                  output) override
  {
    const int isScalar = arguments.components == 1;
    if (arguments.chain == ChainFollowsRows)
    {
      this->Launch<ResampleRowsGroupKernel>(arguments, precision, arrays, output, arguments.interpolation, isScalar);
    }
    else
    {
      this->Launch<ResampleTileGroupKernel>(
        arguments, precision, arrays, output, arguments.interpolation, arguments.chain, isScalar);
    }
  }

private:
  template <typename TKernel, typename... TConstants>
  void
  Launch(
    ResampleArguments a, Precision precision, const ResampleArrays & arrays, Memory & output, TConstants... constants)
  {
    CutIntoGroups(&a, GetGroupLanes<TKernel>(m_Queue));
    LaunchGroups<TKernel>(m_Queue,
                          GroupNumbers{ CountGroups(&a), CountPlaneGroups(&a) },
                          precision,
                          constants...,
                          a,
                          Input<RealNumber>(arrays.input),
                          Input<ChainPart>(arrays.parts.get()),
                          Input<float4>(arrays.vectors.get()),
                          Input<RealNumber>(arrays.outside.get()),
                          Output<RealNumber>(output));
  }

  Queue & m_Queue;
};
} // namespace

GPUREG_DEFINE_GROUP_PASSES(ResamplePasses, GroupResamplePasses)

} // namespace gpureg
