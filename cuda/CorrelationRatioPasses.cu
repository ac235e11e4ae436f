// SPDX-License-Identifier: Apache-2.0
// The correlation ratio's passes in CUDA.
#include "CudaHistogramPasses.h"

#include "CorrelationRatioPasses.h"

#include "CorrelationRatioCount.h"
#include "CorrelationRatioKernels.h"

namespace gpureg
{

namespace
{
// The bins are few.
constexpr int TableLanes = 256;

template <bool VIsPrecise>
__global__ void
__launch_bounds__(TableLanes)
  TableKernel(const __grid_constant__ CorrelationRatioArguments a, const u64 * histogram, void * table)
{
  float * const integers = reinterpret_cast<float *>(localMemory);
  TableGroup(VIsPrecise ? SamplesArePrecise : 0, &a, histogram, nullptr, integers, table);
}

class CudaCorrelationRatioPasses : public CudaHistogramPasses<CorrelationRatioArguments>
{
public:
  using CudaHistogramPasses::CudaHistogramPasses;

  void
  Table(const CorrelationRatioArguments & a, const HistogramArrays & arrays) override
  {
    GetQueue().Launch("making the derivative's table",
                      a.histogram.samples.variant & SamplesArePrecise ? TableKernel<true> : TableKernel<false>,
                      dim3(1),
                      TableLanes,
                      TableLanes * sizeof(u64),
                      a,
                      AddressOf<u64>(arrays.sums),
                      AddressOf<char>(arrays.table));
  }
};
} // namespace

std::unique_ptr<CorrelationRatioPasses>
CudaQueue::CreateCorrelationRatioPasses()
{
  return std::make_unique<CudaCorrelationRatioPasses>(*this);
}

} // namespace gpureg
