// SPDX-License-Identifier: Apache-2.0
// The passes of the joint histogram's mutual information in OpenCL.
#include "engine/metric/histogram/JointHistogramPasses.h"

#include "opencl/metric/histogram/OpenCLHistogramPasses.h"

namespace gpureg
{

namespace
{
class OpenCLJointHistogramPasses : public OpenCLHistogramPasses<JointHistogramArguments, JointHistogramSummaryArguments>
{
public:
  explicit OpenCLJointHistogramPasses(OpenCLQueue & queue)
    : OpenCLHistogramPasses(queue, OpenCLJointHistogramSource, OpenCLJointHistogramSummarySource)
  {}

  void
  Table(const JointHistogramArguments & a, const HistogramArrays & arrays) override
  {
    CheckOpenCL(GetQueue().GetDeviceName(), [&] {
      cl::Kernel & kernel = GetKernels().table;
      SetKernelArguments(kernel,
                         a,
                         BufferOf(*arrays.sums),
                         cl::Local(sizeof(float)),
                         cl::Local((static_cast<std::size_t>(a.histogram.rows) + 1) * sizeof(i64)),
                         BufferOf(*arrays.table));
      GetQueue().Launch(kernel, 1, 1);
    });
  }

  /** Returns true if the device can compute summaries: they need doubles, which not every device has, so they are a program of their
   *  own. */
  bool
  HasSummaries(const JointHistogramSummaryArguments & a) const override
  {
    return GetQueue().GetDevice().HasDoubles() && OpenCLHistogramPasses::HasSummaries(a);
  }

private:
  std::size_t
  GetSummaryBytes(const JointHistogramSummaryArguments & a) const override
  {
    return static_cast<std::size_t>(CountSummaryScratch(&a, static_cast<int>(GetLaneCount()))) * sizeof(u64);
  }

  /** Checks the size of rows. \throws Error if a row of the histogram, or of the table, would not fit into local memory. */
  void
  CheckRows(const JointHistogramArguments & a) const override
  {
    const std::size_t available = GetQueue().GetDevice().GetLocalMemorySize();
    const std::size_t needed = std::max(GetBandBytes(a.histogram), GetTableBandBytes(a.histogram));
    if (needed > available)
    {
      throw UnsupportedError(GetQueue().GetDeviceName() + ": a joint histogram of " + std::to_string(a.histogram.rows) +
                             " bins needs " + std::to_string(needed) + " bytes of local memory, and there are " +
                             std::to_string(available) + "; use fewer bins, or another device");
    }
  }
};
} // namespace

template <>
std::unique_ptr<JointHistogramPasses>
MakePassesOn<DeviceKind::OpenCL, JointHistogramPasses>(Queue & queue)
{
  return std::make_unique<OpenCLJointHistogramPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
