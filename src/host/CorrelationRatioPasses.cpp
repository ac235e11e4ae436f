// SPDX-License-Identifier: Apache-2.0
// What the correlation ratio's passes on the host have of their own. src/kernels/CorrelationRatioKernels.h holds the twin
// for CUDA and OpenCL.
#include "HostHistogramPasses.h"

#include "CorrelationRatioPasses.h"

#include "CorrelationRatioCount.h"

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
    u64                  explained = 0;
    const auto           read = [&](int row) { return ReadSums(histogram + row * a.histogram.columns); };
    ++GetQueue().statistics.launches;
    for (int row = 0; row < a.histogram.rows; ++row)
    {
      const CorrelationRatioSums ofBin = read(row);
      AddSums(histogram + row * a.histogram.columns, &all);
      explained += SquareOfSum(&ofBin);
    }
    const i64 within = static_cast<i64>(all.squares - explained);
    const i64 mean = FindMean(&all);
    const i64 ratio = RatioOfDeviations(within, SumOfDeviations(&all));
    for (int row = 0; row < a.histogram.rows; ++row)
    {
      const CorrelationRatioSums ofBin = read(row);
      WriteTableRow(a.histogram.samples.variant, row, FindMean(&ofBin), mean, ratio, AddressOf<char>(arrays.table));
    }
    WriteNumbersBehindTable(a.histogram.samples.variant, a.histogram.rows, &all, ratio, AddressOf<char>(arrays.table));
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
