// SPDX-License-Identifier: Apache-2.0
// The passes in CUDA of a metric that is a mutual information of its joint histogram. For inclusion by .cu files, each of which is compiled
// for its own metric.
#ifndef gpureg_CudaEntropyPasses_h
#define gpureg_CudaEntropyPasses_h

#include "cuda/metric/histogram/CudaHistogramPasses.h"

#include "kernels/metric/histogram/EntropyTable.h"
#include "kernels/metric/histogram/EntropyTableKernels.h"

namespace gpureg
{

namespace
{
constexpr int TableLanes = 1024;

template <bool VIsFixedPoint, typename TArguments>
__global__ void
__launch_bounds__(TableLanes) TableKernel(const __grid_constant__ TArguments a, const u64 * histogram, void * table)
{
  float * const scratch = reinterpret_cast<float *>(localMemory);
  TableGroup(VIsFixedPoint ? SamplesAreFixedPoint : 0, &a, histogram, scratch, scratch + TableLanes, table);
}

/** \tparam TArguments the metric's arguments, with a member `normalized`. */
template <typename TArguments>
class CudaEntropyPasses : public CudaHistogramPasses<TArguments>
{
public:
  explicit CudaEntropyPasses(CudaQueue & queue)
    : CudaHistogramPasses<TArguments>(queue)
  {
    const CudaDeviceScope scope(queue.GetDevice());
    this->AllowLocalMemory(TableKernel<false, TArguments>);
    this->AllowLocalMemory(TableKernel<true, TArguments>);
  }

  void
  Table(const TArguments & a, const HistogramArrays & arrays) override
  {
    this->GetQueue().Launch("making the derivative's table",
                            a.histogram.samples.variant & SamplesAreFixedPoint ? TableKernel<true, TArguments>
                                                                               : TableKernel<false, TArguments>,
                            dim3(1),
                            TableLanes,
                            (TableLanes + 2 * a.histogram.rows) * sizeof(float),
                            a,
                            AddressOf<u64>(arrays.sums),
                            AddressOf<char>(arrays.table));
  }
};
} // namespace

} // namespace gpureg

#endif
