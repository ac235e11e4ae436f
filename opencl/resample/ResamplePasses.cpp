// SPDX-License-Identifier: Apache-2.0
// The resampler in OpenCL: launches. The entry point is in opencl/resample/ResampleKernels.cl; src/kernels/resample/ResampleKernels.h has
// the work of a group; the plain version is src/host/resample/ResamplePasses.cpp.
#include "engine/resample/ResamplePasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <string>

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLResamplePasses : public ResamplePasses
{
public:
  explicit OpenCLResamplePasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLResampleSource)
  {}

  void
  Resample(const ResampleArguments & arguments,
           Precision                 precision,
           const ResampleArrays &    arrays,
           Memory &                  output) override
  {
    ResampleArguments a = arguments;
    CutIntoGroups(&a, m_Queue.GetDevice().GetLanes());
    cl::Kernel & kernel = m_Kernels.Get("Resample", GetOptions(a, precision));
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      // Another array stands for an array that there is not.
      const auto orInput = [&arrays](const MemoryPointer & array) { return BufferOf(array ? *array : arrays.input); };
      SetKernelArguments(kernel,
                         a,
                         orInput(arrays.parts),
                         orInput(arrays.vectors),
                         BufferOf(arrays.input),
                         BufferOf(*arrays.outside),
                         BufferOf(output));
      m_Queue.Launch(kernel, CountGroups(&a), CountPlaneGroups(&a));
    });
  }

private:
  /** Returns the options of a kernel's variant. A GPU has a kernel for each way of resampling. On a CPU, compiling these takes longer
   *  than it ever saves, so one kernel looks the way up at run time; only the kernel that follows rows is another one. */
  std::string
  GetVariant(const ResampleArguments & a) const
  {
    const std::string rows = std::string(" -DGPUREG_FOLLOWS_ROWS=") + (a.chain == ChainFollowsRows ? "1" : "0");
    return rows + (!m_Queue.GetDevice().IsGpu() ? std::string(" -DGPUREG_IS_GENERAL")
                                                : " -DGPUREG_INTERPOLATION=" + std::to_string(a.interpolation) +
                                                    " -DGPUREG_CHAIN=" + std::to_string(a.chain) +
                                                    " -DGPUREG_IS_SCALAR=" + (a.components == 1 ? "1" : "0"));
  }

  /** \throws Error if the device cannot compute in that precision. */
  std::string
  GetOptions(const ResampleArguments & a, Precision precision) const
  {
    if (precision == Precision::Double)
    {
      CheckHasDoubles(m_Queue.GetDevice());
    }
    return GetRealOption(precision) + GetVariant(a);
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<ResamplePasses>
MakePassesOn<DeviceKind::OpenCL, ResamplePasses>(Queue & queue)
{
  return std::make_unique<OpenCLResamplePasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
