// SPDX-License-Identifier: Apache-2.0
// The correlation ratio's passes in OpenCL.
#include "engine/metric/histogram/CorrelationRatioPasses.h"

#include "opencl/metric/histogram/OpenCLHistogramPasses.h"

namespace gpureg
{

namespace
{
class OpenCLCorrelationRatioPasses : public OpenCLHistogramPasses<CorrelationRatioArguments>
{
public:
  explicit OpenCLCorrelationRatioPasses(OpenCLQueue & queue)
    : OpenCLHistogramPasses(queue, OpenCLCorrelationRatioSource)
  {}

  void
  Table(const CorrelationRatioArguments & a, const HistogramArrays & arrays) override
  {
    CheckOpenCL(GetQueue().GetDeviceName(), [&] {
      cl::Kernel & kernel = GetKernels().table;
      SetKernelArguments(kernel,
                         a,
                         BufferOf(*arrays.sums),
                         cl::Local(sizeof(float)),
                         cl::Local(GetLaneCount() * sizeof(u64)),
                         BufferOf(*arrays.table));
      GetQueue().Launch(kernel, 1, 1);
    });
  }

private:
  // Does nothing: the few sums of a bin always fit into local memory.
  void
  CheckRows(const CorrelationRatioArguments &) const override
  {}
};
} // namespace

template <>
std::unique_ptr<CorrelationRatioPasses>
MakePassesOn<DeviceKind::OpenCL, CorrelationRatioPasses>(Queue & queue)
{
  return std::make_unique<OpenCLCorrelationRatioPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
