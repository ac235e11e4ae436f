// SPDX-License-Identifier: Apache-2.0
// The metrics that are sums over pairs of values in OpenCL: launches. The entry point is in opencl/metric/pairs/PairKernels.cl.
#include "engine/metric/pairs/PairPasses.h"

#include "opencl/runtime/OpenCLKernels.h"
#include "opencl/metric/samples/OpenCLSamples.h"

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
    , m_Kernels(queue, OpenCLPairSource)
  {}

  SampleGrain
  GetGrain() const override
  {
    return GetSampleGrain(m_Queue.GetDevice());
  }

  /** Compiles the kernels for a variant and a task. A GPU has one kernel for each task in the plain cases, and two for all others, in
   *  floats and in fixed point. On a CPU, compiling these takes longer than it ever saves, so one kernel looks variant and task up at
   *  run time. */
  void
  Prepare(int variant, int task) override
  {
    this->GetKernel(variant, task);
  }

  void
  SumPairs(const PairArguments & a, const SampleMaps & maps, const PairArrays & arrays) override
  {
    cl::Kernel & kernel = this->GetKernel(a.samples.variant, a.task);
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetSampleKernelArguments(kernel,
                               a,
                               maps,
                               *arrays.samples,
                               BufferOf(arrays.evaluated ? *arrays.evaluated : *arrays.partials),
                               cl::Local(this->GetScratchBytes(a)),
                               BufferOf(*arrays.partials),
                               BufferOf(arrays.forces ? *arrays.forces : *arrays.partials));
      m_Queue.Launch(kernel, ChunkCount(&a.samples), 1);
    });
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  void
  SumBatch(const PairArguments & a, BatchRange range, const PairArrays & arrays, const BatchArrays & batch) override
  {
    cl::Kernel & kernel = m_Kernels.Get("SumBatch", this->GetOptions(a.samples.variant, a.task) + " -DGPUREG_BATCH");
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetSampleKernelArguments(kernel,
                               a,
                               BufferOf(*batch.maps),
                               *arrays.samples,
                               cl_int{ range.first },
                               cl::Local(this->GetScratchBytes(a)),
                               BufferOf(*arrays.partials));
      m_Queue.Launch(kernel, std::int64_t{ range.count } * ChunkCount(&a.samples), 1);
    });
  }

private:
  cl::Kernel &
  GetKernel(int variant, int task)
  {
    return m_Kernels.Get("SumPairs", this->GetOptions(variant, task));
  }

  /** Returns the name of the variant for which a kernel is compiled: there are few, since each takes the driver a second. */
  static std::string
  GetCompiledVariant(int variant)
  {
    const bool        isPlain = variant == ReadsQuads || variant == (SamplesAreFixedPoint | SamplesArePoints);
    const std::string fixedPoint = std::to_string(int{ SamplesAreFixedPoint });
    return isPlain                          ? std::to_string(variant)
           : variant & SamplesAreFixedPoint ? "(variant|" + fixedPoint + ")"
                                            : "(variant&~" + fixedPoint + ")";
  }

  std::string
  GetOptions(int variant, int task) const
  {
    const bool isGpu = m_Queue.GetDevice().IsGpu();
    return GetSampleOptions(isGpu ? GetCompiledVariant(variant) : "variant") +
           " -DGPUREG_TASK=" + (isGpu ? std::to_string(task) : "task");
  }

  std::size_t
  GetScratchBytes(const PairArguments & a) const
  {
    return FloatsOfSum(a.samples.variant) * ForceSumCount * static_cast<std::size_t>(m_Queue.GetDevice().GetLanes()) *
           sizeof(float);
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<PairPasses>
MakePassesOn<DeviceKind::OpenCL, PairPasses>(Queue & queue)
{
  return std::make_unique<OpenCLPairPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
