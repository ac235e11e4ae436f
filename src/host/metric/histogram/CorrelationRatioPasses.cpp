// SPDX-License-Identifier: Apache-2.0
// The host's own passes of the correlation ratio. src/kernels/metric/histogram/CorrelationRatioKernels.h has the counterparts for CUDA and
// OpenCL.
#include "host/metric/histogram/HostHistogramPasses.h"

#include "engine/metric/histogram/CorrelationRatioPasses.h"
#include "engine/metric/histogram/CorrelationRatioSchemePasses.h"

#include "kernels/metric/histogram/CorrelationRatioCount.h"

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
    GetQueue().CountLaunch();
    const i64 within = SumDeviations(a.histogram, histogram, all);
    const i64 mean = ComputeMean(&all);
    const i64 ratio = RatioOfDeviations(within, SumOfDeviations(&all));
    for (int row = 0; row < a.histogram.rows; ++row)
    {
      const CorrelationRatioSums ofBin = ReadSums(histogram + row * a.histogram.columns);
      WriteTableRow(a.histogram.samples.variant, row, ComputeMean(&ofBin), mean, ratio, AddressOf<char>(arrays.table));
    }
    WriteNumbersBehindTable(a.histogram.samples.variant, a.histogram.rows, &all, ratio, AddressOf<char>(arrays.table));
  }

  bool
  HasBatches() const override
  {
    return true;
  }

  bool
  HasSummaries(const CorrelationRatioArguments &) const override
  {
    return true;
  }

  void
  Summarize(const CorrelationRatioArguments & a,
            BatchRange                        range,
            const Memory &                    histograms,
            Memory &                          summaries) override
  {
    const HistogramArguments & h = a.histogram;
    const u64 *                ofCandidates = GetQueue().AddressIn<u64>(histograms);
    i64 *                      results = GetQueue().AddressIn<i64>(summaries) + i64{ range.first } * SummaryCount;
    GetQueue().CountLaunch();
    GetQueue().ForEachTask(range.count, [&](i64 n) {
      const u64 *          histogram = ofCandidates + n * h.rows * h.columns;
      i64 *                summary = results + n * SummaryCount;
      CorrelationRatioSums all{};
      u64                  points = 0;
      summary[0] = SumDeviations(h, histogram, all);
      summary[1] = SumOfDeviations(&all);
      summary[2] = static_cast<i64>(all.count);
      for (int row = 0; row < h.rows && h.columns > CorrelationRatioPoints; ++row)
      {
        points += histogram[row * h.columns + CorrelationRatioPoints];
      }
      summary[3] = static_cast<i64>(points);
    });
  }

private:
  /** Returns A, and writes the sums over all fixed bins to all. */
  static i64
  SumDeviations(const HistogramArguments & h, const u64 * histogram, CorrelationRatioSums & all)
  {
    u64 explained = 0;
    for (int row = 0; row < h.rows; ++row)
    {
      const CorrelationRatioSums ofBin = ReadSums(histogram + row * h.columns);
      AddSums(histogram + row * h.columns, &all);
      explained += SquareOfSum(&ofBin);
    }
    return static_cast<i64>(all.squares - explained);
  }
};
} // namespace

template <>
std::unique_ptr<CorrelationRatioPasses>
MakePassesOn<DeviceKind::Host, CorrelationRatioPasses>(Queue & queue)
{
  return std::make_unique<HostCorrelationRatioPasses>(static_cast<HostQueue &>(queue));
}

template <>
std::unique_ptr<CorrelationRatioSchemePasses>
MakePassesOn<DeviceKind::Host, CorrelationRatioSchemePasses>(Queue &)
{
  return nullptr;
}

} // namespace gpureg
