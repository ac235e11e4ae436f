// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes in OpenCL.
#include "MattesPasses.h"

#include "OpenCLHistogramPasses.h"

namespace gpureg
{

namespace
{
class OpenCLMattesPasses : public OpenCLHistogramPasses<MattesArguments>
{
public:
  explicit OpenCLMattesPasses(OpenCLQueue & queue)
    : OpenCLHistogramPasses(queue, OpenCLMattesSource)
  {}

  void
  Table(const MattesArguments & a, const HistogramArrays & arrays) override
  {
    CheckOpenCL(GetQueue().GetDeviceName(), [&] {
      cl::Kernel & kernel = GetKernels().table;
      SetKernelArguments(kernel,
                         a,
                         BufferOf(*arrays.sums),
                         cl::Local(GetLaneCount() * sizeof(float)),
                         cl::Local(GetMarginalBytes(a.histogram.rows)),
                         BufferOf(*arrays.table));
      GetQueue().Launch(kernel, 1, 1);
    });
  }

private:
  static std::size_t
  GetMarginalBytes(int bins)
  {
    return 2 * static_cast<std::size_t>(bins) * sizeof(float);
  }

  /** \throws Error if a row of the histogram, or its marginals, would not fit into local memory. */
  void
  CheckRows(const MattesArguments & a) const override
  {
    const std::size_t available = GetQueue().GetDevice().GetLocalMemorySize();
    const std::size_t needed =
      std::max(GetBandBytes(a.histogram), GetLaneCount() * sizeof(float) + GetMarginalBytes(a.histogram.rows));
    if (needed > available)
    {
      const std::size_t most = (available - GetLaneCount() * sizeof(float)) / GetMarginalBytes(1);
      throw UnsupportedError(GetQueue().GetDeviceName() + ": a joint histogram of " + std::to_string(a.histogram.rows) +
                             " bins needs " + std::to_string(needed) + " bytes of local memory, and there are " +
                             std::to_string(available) + "; use at most " + std::to_string(most) +
                             " bins, or another device");
    }
  }
};
} // namespace

std::unique_ptr<MattesPasses>
OpenCLQueue::CreateMattesPasses()
{
  return std::make_unique<OpenCLMattesPasses>(*this);
}

} // namespace gpureg
