// SPDX-License-Identifier: Apache-2.0
// The correlation ratio's passes in CUDA.
#include "cuda/metric/histogram/CudaHistogramPasses.h"

#include "engine/metric/histogram/CorrelationRatioPasses.h"

#include "kernels/metric/histogram/CorrelationRatioCount.h"
#include "kernels/metric/histogram/CorrelationRatioKernels.h"

namespace gpureg
{

namespace
{
// The table has few rows, one for each fixed bin.
constexpr int TableLanes = 256;

template <bool VIsFixedPoint>
__global__ void
__launch_bounds__(TableLanes)
  TableKernel(const __grid_constant__ CorrelationRatioArguments a, const u64 * histogram, void * table)
{
  float * const integers = reinterpret_cast<float *>(localMemory);
  TableGroup(VIsFixedPoint ? SamplesAreFixedPoint : 0, &a, histogram, nullptr, integers, table);
}

class CudaCorrelationRatioPasses : public CudaHistogramPasses<CorrelationRatioArguments>
{
public:
  using CudaHistogramPasses::CudaHistogramPasses;

  void
  Table(const CorrelationRatioArguments & a, const HistogramArrays & arrays) override
  {
    GetQueue().Launch("making the derivative's table",
                      a.histogram.samples.variant & SamplesAreFixedPoint ? TableKernel<true> : TableKernel<false>,
                      dim3(1),
                      TableLanes,
                      TableLanes * sizeof(u64),
                      a,
                      AddressOf<u64>(arrays.sums),
                      AddressOf<char>(arrays.table));
  }
};
} // namespace

template <>
std::unique_ptr<CorrelationRatioPasses>
MakePassesOn<DeviceKind::Cuda, CorrelationRatioPasses>(Queue & queue)
{
  return std::make_unique<CudaCorrelationRatioPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
