// SPDX-License-Identifier: Apache-2.0
// Counting of a sample in the histogram of a metric whose samples have a window of four adjacent entries: see Histogram.h. A metric whose
// samples add to other entries defines its own CountSample() instead.
#ifndef gpureg_kernels_WindowCount_h
#define gpureg_kernels_WindowCount_h

GPUREG_NAMESPACE_BEGIN

/** Counts the sample at a position, if it is valid. The histogram's entries are `stride` apart; the row of the sample's fixed bin begins
 *  at rowEntry, and low halves lie lowEntries behind high ones. laneSum: see LaneSum.h. */
GPUREG_METRIC_GROUP_FUNCTION void
CountSample(int                     variant,
            const MetricArguments * a,
            const SampleMaps *      maps,
            const SampleVolumes *   v,
            const i64 *             position,
            GPUREG_LOCAL u32 *      histogram,
            int                     rowEntry,
            int                     lowEntries,
            int                     stride,
            u64 *                   laneSum)
{
  (void)laneSum;
  int first;
  u32 weights[WindowEntries], low[WindowEntries];
  if (CountsHalves(variant))
  {
    if (ComputeFixedPointWindow(variant, a, maps, v, position, &first, weights, low))
    {
      AddWindow(histogram, rowEntry + first, stride, WindowEntries, weights);
      AddWindow(histogram, lowEntries + rowEntry + first, stride, WindowEntries, low);
    }
  }
  else if (ComputeWindow(variant, a, maps, v, position, &first, weights))
  {
    AddWindow(histogram, rowEntry + first, stride, WindowEntries, weights);
  }
}

GPUREG_NAMESPACE_END

#endif
