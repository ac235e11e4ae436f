// SPDX-License-Identifier: Apache-2.0
// The host's own passes of the joint histogram's mutual information.
// src/kernels/metric/histogram/JointHistogramKernels.h has the counterparts for CUDA and OpenCL.
#include "host/metric/histogram/HostHistogramPasses.h"

#include "engine/metric/histogram/JointHistogramPasses.h"

#include <numeric>
#include <vector>

namespace gpureg
{

namespace
{
/** Calls visit(cell) for each cell of the histogram, with the fixed bins in parallel. */
template <typename TVisit>
void
ForEachCell(HostQueue & queue, const JointHistogramArguments & a, const TVisit & visit)
{
  const int bins = a.histogram.rows;
  queue.ForEachTask(bins, [&](i64 row) {
    for (int k = 0; k < bins; ++k)
    {
      visit(static_cast<int>(row) * bins + k);
    }
  });
}

class HostJointHistogramPasses : public HostHistogramPasses<JointHistogramArguments, JointHistogramSummaryArguments>
{
public:
  using HostHistogramPasses::HostHistogramPasses;

  void
  Table(const JointHistogramArguments & a, const HistogramArrays & arrays) override
  {
    GetQueue().CountLaunch();
    if (VariantHas(a.histogram.samples.variant, SamplesAreFixedPoint))
    {
      this->FillFixedPoint(a, AddressOf<u64>(arrays.sums), AddressOf<i64>(arrays.table));
    }
    else
    {
      this->Fill(a, AddressOf<u64>(arrays.sums), AddressOf<float>(arrays.table));
    }
  }

private:
  void
  Fill(const JointHistogramArguments & a, const u64 * histogram, float * table)
  {
    HostQueue &        queue = GetQueue();
    std::vector<float> marginals(a.histogram.rows);
    ForEachCell(queue, a, [&](int cell) { PutJointCount(&a, histogram, cell, table); });
    ForEachCell(queue, a, [&](int cell) { SmoothAlongMoving(&a, cell, table); });
    ForEachCell(queue, a, [&](int cell) { SmoothAlongFixed(&a, cell, table); });
    queue.ForEachTask(a.histogram.rows,
                      [&](i64 bin) { marginals[bin] = SumMarginal(&a, static_cast<int>(bin), table); });
    ForEachCell(queue, a, [&](int cell) { FinishJointEntries(&a, cell, marginals[cell % a.histogram.rows], table); });
  }

  void
  FillFixedPoint(const JointHistogramArguments & a, const u64 * histogram, i64 * table)
  {
    HostQueue &      queue = GetQueue();
    std::vector<i64> marginals(a.histogram.rows);
    u64              sum = 0;
    for (int cell = 0; cell < a.histogram.rows * a.histogram.rows; ++cell)
    {
      sum += histogram[CellOfHistogram(&a, cell)];
    }
    const int bits = ComputeCountBits(sum);
    ForEachCell(queue, a, [&](int cell) { PutFixedPointJointCount(&a, histogram, cell, bits, table); });
    ForEachCell(queue, a, [&](int cell) { SmoothAlongMovingInFixedPoint(&a, cell, table); });
    ForEachCell(queue, a, [&](int cell) { SmoothAlongFixedInFixedPoint(&a, cell, table); });
    queue.ForEachTask(a.histogram.rows,
                      [&](i64 bin) { marginals[bin] = SumFixedPointMarginal(&a, static_cast<int>(bin), table); });
    ForEachCell(queue, a, [&](int cell) {
      FinishFixedPointJointEntries(&a, cell, marginals[cell % a.histogram.rows], table);
    });
  }
};
} // namespace

template <>
std::unique_ptr<JointHistogramPasses>
MakePassesOn<DeviceKind::Host, JointHistogramPasses>(Queue & queue)
{
  return std::make_unique<HostJointHistogramPasses>(static_cast<HostQueue &>(queue));
}

} // namespace gpureg
