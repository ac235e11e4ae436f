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
/** Calls visit(entry) for each entry of the histogram, with the fixed bins in parallel. */
template <typename TVisit>
void
ForEachEntry(HostQueue & queue, const JointHistogramArguments & a, const TVisit & visit)
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
    ForEachEntry(queue, a, [&](int entry) { PutJointCount(&a, histogram, entry, table); });
    ForEachEntry(queue, a, [&](int entry) { SmoothAlongMoving(&a, entry, table); });
    ForEachEntry(queue, a, [&](int entry) { SmoothAlongFixed(&a, entry, table); });
    queue.ForEachTask(a.histogram.rows,
                      [&](i64 bin) { marginals[bin] = SumMarginal(&a, static_cast<int>(bin), table); });
    ForEachEntry(queue, a, [&](int entry) {
      FinishJointEntries(&a, entry, marginals[entry % a.histogram.rows], table);
    });
  }

  void
  FillFixedPoint(const JointHistogramArguments & a, const u64 * histogram, i64 * table)
  {
    HostQueue &      queue = GetQueue();
    std::vector<i64> marginals(a.histogram.rows);
    u64              sum = 0;
    for (int entry = 0; entry < a.histogram.rows * a.histogram.rows; ++entry)
    {
      sum += histogram[EntryOfHistogram(&a, entry)];
    }
    const int bits = ComputeCountBits(sum);
    ForEachEntry(queue, a, [&](int entry) { PutFixedPointJointCount(&a, histogram, entry, bits, table); });
    ForEachEntry(queue, a, [&](int entry) { SmoothAlongMovingInFixedPoint(&a, entry, table); });
    ForEachEntry(queue, a, [&](int entry) { SmoothAlongFixedInFixedPoint(&a, entry, table); });
    queue.ForEachTask(a.histogram.rows,
                      [&](i64 bin) { marginals[bin] = SumFixedPointMarginal(&a, static_cast<int>(bin), table); });
    ForEachEntry(queue, a, [&](int entry) {
      FinishFixedPointJointEntries(&a, entry, marginals[entry % a.histogram.rows], table);
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
