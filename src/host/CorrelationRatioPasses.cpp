// SPDX-License-Identifier: Apache-2.0
// What the correlation ratio's passes on the host have of their own. src/kernels/CorrelationRatioKernels.h holds the twin
// for CUDA and OpenCL.
#include "HostHistogramPasses.h"

#include "CorrelationRatioPasses.h"

namespace gpureg
{

namespace
{
class HostCorrelationRatioPasses : public HostHistogramPasses<CorrelationRatioArguments>
{
public:
  using HostHistogramPasses::HostHistogramPasses;

  void
  Table(const CorrelationRatioArguments & a, const HistogramArrays & arrays) override
  {
    const u64 *          histogram = AddressOf<u64>(arrays.sums);
    CorrelationRatioSums all{};
    i64                  within = 0;
    ++GetQueue().statistics.launches;
    for (int row = 0; row < a.histogram.rows; ++row)
    {
      const CorrelationRatioSums ofBin = ReadSums(histogram + row * CorrelationRatioColumns);
      AddSums(histogram + row * CorrelationRatioColumns, &all);
      within += SumOfDeviations(&ofBin);
    }
    const i64 mean = FindMean(&all);
    const i64 ratio = RatioOfDeviations(within, SumOfDeviations(&all));
    for (int row = 0; row < a.histogram.rows; ++row)
    {
      const CorrelationRatioSums ofBin = ReadSums(histogram + row * CorrelationRatioColumns);
      WriteTableRow(a.histogram.samples.variant, row, FindMean(&ofBin), mean, ratio, AddressOf<char>(arrays.table));
    }
  }
};
} // namespace

std::unique_ptr<CorrelationRatioPasses>
HostQueue::CreateCorrelationRatioPasses()
{
  return std::make_unique<HostCorrelationRatioPasses>(*this);
}

std::unique_ptr<CorrelationRatioSchemePasses>
HostQueue::CreateCorrelationRatioSchemePasses()
{
  return nullptr;
}

} // namespace gpureg
