// SPDX-License-Identifier: Apache-2.0
// The resampler in OpenCL: launches. The entry point is in opencl/ResampleKernels.cl, what a group does
// is in src/kernels/ResampleKernels.h; the plain version is src/host/ResamplePasses.cpp.
#include "ResamplePasses.h"

#include "OpenCLError.h"
#include "OpenCLProgram.h"
#include "OpenCLQueue.h"

#include <map>
#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
// The kernels get these as bytes: they and the host's compiler must lay them out alike. ResampleKernels.cl
// compares the sizes.
static_assert(std::is_trivially_copyable<ResampleArguments>::value && std::is_trivially_copyable<ChainPart>::value,
              "kernels get these as bytes");

class OpenCLResamplePasses : public ResamplePasses
{
public:
  explicit OpenCLResamplePasses(OpenCLQueue & queue)
    : m_Queue(queue)
  {}

  void
  Resample(const ResampleArguments & arguments,
           Precision                 precision,
           const ResampleArrays &    arrays,
           Memory &                  output) override
  {
    ResampleArguments a = arguments;
    CutIntoGroups(&a, m_Queue.GetDevice().GetLanes());
    cl::Kernel & kernel = GetKernel(a, precision);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      // In the place of an array that is not there stands one that is.
      const auto orInput = [&arrays](const MemoryPointer & array) { return BufferOf(array ? *array : *arrays.input); };
      SetKernelArguments(kernel,
                         a,
                         orInput(arrays.parts),
                         orInput(arrays.vectors),
                         BufferOf(*arrays.input),
                         BufferOf(*arrays.outside),
                         BufferOf(output));
      m_Queue.Launch(kernel, CountGroups(&a), CountPlaneGroups(&a));
    });
  }

private:
  /** A GPU gets a kernel for each way of resampling. On a CPU, where that takes longer to compile than it ever saves, one
   *  finds its way by the arguments. */
  std::string
  GetVariant(const ResampleArguments & a) const
  {
    return !m_Queue.GetDevice().IsGpu() ? std::string(" -DGPUREG_IS_GENERAL")
                                        : " -DGPUREG_INTERPOLATION=" + std::to_string(a.interpolation) +
                                            " -DGPUREG_CHAIN=" + std::to_string(a.chain) +
                                            " -DGPUREG_IS_SCALAR=" + (a.components == 1 ? "1" : "0");
  }

  /** Compiled or loaded at the first call. \throws Error if the device cannot compute in that precision. */
  cl::Kernel &
  GetKernel(const ResampleArguments & a, Precision precision)
  {
    const bool isDouble = precision == Precision::Double;
    if (isDouble && !m_Queue.GetDevice().HasDoubles())
    {
      throw UnsupportedError(m_Queue.GetDeviceName() + " cannot compute in double precision; use another device");
    }
    const std::string options = std::string("-DGPUREG_REAL=") + (isDouble ? "double" : "float") + GetVariant(a) +
                                " -DGPUREG_ARGUMENT_BYTES=" + std::to_string(sizeof(ResampleArguments)) +
                                " -DGPUREG_PART_BYTES=" + std::to_string(sizeof(ChainPart));
    const auto found = m_Kernels.find(options);
    if (found != m_Kernels.end())
    {
      return found->second;
    }
    const cl::Program program = m_Queue.GetDevice().GetProgram(OpenCLResampleSource, options);
    const cl::Kernel  kernel = CheckOpenCL(m_Queue.GetDeviceName(), [&] { return cl::Kernel(program, "Resample"); });
    return m_Kernels.emplace(options, kernel).first->second;
  }

  OpenCLQueue & m_Queue;
  /** By options. One object's own, since setting an argument of a kernel is not thread-safe. */
  std::map<std::string, cl::Kernel> m_Kernels;
};
} // namespace

std::unique_ptr<ResamplePasses>
OpenCLQueue::CreateResamplePasses()
{
  return std::make_unique<OpenCLResamplePasses>(*this);
}

} // namespace gpureg
