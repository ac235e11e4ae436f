// SPDX-License-Identifier: Apache-2.0
// Counting of a sample in the histogram of a metric whose samples have a window of four adjacent cells: see Histogram.h. A metric whose
// samples add to other cells defines its own CountSample() instead.
#ifndef gpureg_kernels_WindowCount_h
#define gpureg_kernels_WindowCount_h

GPUREG_NAMESPACE_BEGIN

/** Counts the sample at a position, if it is valid. The histogram's cells are `stride` apart; the row of the sample's fixed bin begins
 *  at rowCell, and low halves lie lowCells behind high ones. laneSum: see LaneSum.h. */
GPUREG_METRIC_GROUP_FUNCTION void
CountSample(int                     variant,
            const MetricArguments * a,
            const SampleMaps *      maps,
            const SampleVolumes *   v,
            const i64 *             position,
            GPUREG_LOCAL u32 *      histogram,
            int                     rowCell,
            int                     lowCells,
            int                     stride,
            u64 *                   laneSum)
{
  (void)laneSum;
  int first;
  u32 weights[WindowCells], low[WindowCells];
  if (CountsHalves(variant))
  {
    if (FindFixedPointWindow(variant, a, maps, v, position, &first, weights, low))
    {
      AddWindow(histogram, rowCell + first, stride, WindowCells, weights);
      AddWindow(histogram, lowCells + rowCell + first, stride, WindowCells, low);
    }
  }
  else if (FindWindow(variant, a, maps, v, position, &first, weights))
  {
    AddWindow(histogram, rowCell + first, stride, WindowCells, weights);
  }
}

GPUREG_NAMESPACE_END

#endif
