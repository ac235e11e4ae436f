// SPDX-License-Identifier: Apache-2.0
// The passes in OpenCL of a metric that is a mutual information of its joint histogram.
#ifndef gpureg_OpenCLEntropyPasses_h
#define gpureg_OpenCLEntropyPasses_h

#include "opencl/metric/histogram/OpenCLHistogramPasses.h"

namespace gpureg
{

/** \tparam TArguments the metric's arguments, with a member `normalized`. */
template <typename TArguments>
class OpenCLEntropyPasses : public OpenCLHistogramPasses<TArguments>
{
public:
  using OpenCLHistogramPasses<TArguments>::OpenCLHistogramPasses;

  void
  Table(const TArguments & a, const HistogramArrays & arrays) override
  {
    CheckOpenCL(this->GetQueue().GetDeviceName(), [&] {
      cl::Kernel & kernel = this->GetKernels().table;
      SetKernelArguments(kernel,
                         a,
                         BufferOf(*arrays.sums),
                         cl::Local(this->GetLaneCount() * sizeof(float)),
                         cl::Local(GetMarginalBytes(a.histogram.rows)),
                         BufferOf(*arrays.table));
      this->GetQueue().Launch(kernel, 1, 1);
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
  CheckRows(const TArguments & a) const override
  {
    const std::size_t available = this->GetQueue().GetDevice().GetLocalMemorySize();
    const std::size_t needed =
      std::max(GetBandBytes(a.histogram), this->GetLaneCount() * sizeof(float) + GetMarginalBytes(a.histogram.rows));
    if (needed > available)
    {
      const std::size_t most = (available - this->GetLaneCount() * sizeof(float)) / GetMarginalBytes(1);
      throw UnsupportedError(this->GetQueue().GetDeviceName() + ": a joint histogram of " +
                             std::to_string(a.histogram.rows) + " bins needs " + std::to_string(needed) +
                             " bytes of local memory, and there are " + std::to_string(available) + "; use at most " +
                             std::to_string(most) + " bins, or another device");
    }
  }
};

} // namespace gpureg

#endif
