// SPDX-License-Identifier: Apache-2.0
// The Mattes metric's passes in CUDA.
#include "CudaHistogramPasses.h"

#include "MattesPasses.h"

#include "MattesKernels.h"

namespace gpureg
{

namespace
{
constexpr int TableLanes = 1024;

template <bool VIsPrecise>
__global__ void
__launch_bounds__(TableLanes)
  TableKernel(const __grid_constant__ MattesArguments a, const u64 * histogram, void * table)
{
  float * const scratch = reinterpret_cast<float *>(localMemory);
  TableGroup(VIsPrecise ? SamplesArePrecise : 0, &a, histogram, scratch, scratch + TableLanes, table);
}

class CudaMattesPasses : public CudaHistogramPasses<MattesArguments>
{
public:
  explicit CudaMattesPasses(CudaQueue & queue)
    : CudaHistogramPasses(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    AllowLocalMemory(TableKernel<false>);
    AllowLocalMemory(TableKernel<true>);
  }

  void
  Table(const MattesArguments & a, const HistogramArrays & arrays) override
  {
    GetQueue().Launch("making the derivative's table",
                      a.histogram.samples.variant & SamplesArePrecise ? TableKernel<true> : TableKernel<false>,
                      dim3(1),
                      TableLanes,
                      (TableLanes + 2 * a.histogram.rows) * sizeof(float),
                      a,
                      AddressOf<u64>(arrays.sums),
                      AddressOf<char>(arrays.table));
  }
};
} // namespace

std::unique_ptr<MattesPasses>
CudaQueue::CreateMattesPasses()
{
  return std::make_unique<CudaMattesPasses>(*this);
}

} // namespace gpureg
