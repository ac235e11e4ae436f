// SPDX-License-Identifier: Apache-2.0
// The metrics that are sums over pairs of values in OpenCL: launches. The entry point is in opencl/PairKernels.cl.
#include "PairPasses.h"

#include "OpenCLSamples.h"

#include <map>
#include <string>

namespace gpureg
{

namespace
{
class OpenCLPairPasses : public PairPasses
{
public:
  explicit OpenCLPairPasses(OpenCLQueue & queue)
    : m_Queue(queue)
  {}

  SampleGrain
  GetGrain() const override
  {
    return GetSampleGrain(m_Queue.GetDevice());
  }

  /** A GPU gets a kernel for each task in the plain cases, and one for all others, in floats and in integers. On a CPU, where
   *  these take longer to compile than they ever save, one finds its way by the arguments. */
  void
  Prepare(int variant, int task) override
  {
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    m_Options = GetSampleOptions<PairArguments>(isGpu ? GetCompiledVariant(variant) : "variant") +
                " -DGPUREG_TASK=" + (isGpu ? std::to_string(task) : "task");
    if (m_Kernels.count(m_Options) == 0)
    {
      const cl::Program program = m_Queue.GetDevice().GetProgram(OpenCLPairSource, m_Options);
      CheckOpenCL(m_Queue.GetDeviceName(), [&] { m_Kernels.emplace(m_Options, cl::Kernel(program, "SumPairs")); });
    }
  }

  void
  SumPairs(const PairArguments & a, const SampleMaps & maps, const PairArrays & arrays) override
  {
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      cl::Kernel & kernel = m_Kernels.at(m_Options);
      const auto   lanes = static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               *arrays.samples,
                               cl::Local(FloatsOfSum(a.samples.variant) * ForceSumCount * lanes * sizeof(float)),
                               BufferOf(*arrays.partials),
                               BufferOf(arrays.forces ? *arrays.forces : *arrays.partials));
      m_Queue.Launch(kernel, ChunkCount(&a.samples), 1);
    });
  }

private:
  /** Each kernel takes the driver a second. */
  static std::string
  GetCompiledVariant(int variant)
  {
    const bool        isPlain = variant == ReadsQuads || variant == (SamplesArePrecise | SamplesArePoints);
    const std::string precise = std::to_string(int{ SamplesArePrecise });
    return isPlain                       ? std::to_string(variant)
           : variant & SamplesArePrecise ? "(variant|" + precise + ")"
                                         : "(variant&~" + precise + ")";
  }

  OpenCLQueue & m_Queue;
  /** By options. One object's own, since setting an argument of a kernel is not thread-safe. */
  std::map<std::string, cl::Kernel> m_Kernels;
  std::string                       m_Options; // that Prepare has chosen
};
} // namespace

std::unique_ptr<PairPasses>
OpenCLQueue::CreatePairPasses()
{
  return std::make_unique<OpenCLPairPasses>(*this);
}

} // namespace gpureg
