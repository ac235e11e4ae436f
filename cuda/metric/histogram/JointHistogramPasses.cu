// SPDX-License-Identifier: Apache-2.0
// The passes of the joint histogram's mutual information in CUDA.
#include "cuda/metric/histogram/CudaHistogramPasses.h"

#include "engine/metric/histogram/JointHistogramPasses.h"

#include "kernels/metric/histogram/JointHistogramKernels.h"
#include "kernels/metric/histogram/JointHistogramSummaryKernels.h"

namespace gpureg
{

namespace
{
constexpr int TableLanes = 512;

template <bool VIsFixedPoint>
__global__ void
__launch_bounds__(TableLanes)
  TableKernel(const __grid_constant__ JointHistogramArguments a, const u64 * histogram, void * table)
{
  float * const marginals = reinterpret_cast<float *>(localMemory);
  TableGroup(VIsFixedPoint ? SamplesAreFixedPoint : 0, &a, histogram, nullptr, marginals, table);
}

class CudaJointHistogramPasses : public CudaHistogramPasses<JointHistogramArguments, JointHistogramSummaryArguments>
{
public:
  using CudaHistogramPasses::CudaHistogramPasses;

  void
  Table(const JointHistogramArguments & a, const HistogramArrays & arrays) override
  {
    GetQueue().Launch("making the derivative's table",
                      a.histogram.samples.variant & SamplesAreFixedPoint ? TableKernel<true> : TableKernel<false>,
                      dim3(1),
                      TableLanes,
                      (a.histogram.rows + 1) * sizeof(i64),
                      a,
                      AddressOf<u64>(arrays.sums),
                      AddressOf<char>(arrays.table));
  }

private:
  std::size_t
  GetSummaryBytes(const JointHistogramSummaryArguments & a) const override
  {
    return CountSummaryScratch(&a, BatchLanes) * sizeof(u64);
  }
};
} // namespace

template <>
std::unique_ptr<JointHistogramPasses>
MakePassesOn<DeviceKind::Cuda, JointHistogramPasses>(Queue & queue)
{
  return std::make_unique<CudaJointHistogramPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
