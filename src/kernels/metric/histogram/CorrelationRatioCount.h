// SPDX-License-Identifier: Apache-2.0
// Counting of samples in the correlation ratio's histogram. Each sample adds to two counters of its fixed bin, and its Y² to a register of
// its lane; the registers are added to the entries of squares at the end. In variants that count weights in 16-bit halves, a sample adds to
// all entries of its bin.
#ifndef gpureg_kernels_CorrelationRatioCount_h
#define gpureg_kernels_CorrelationRatioCount_h

GPUREG_NAMESPACE_BEGIN

/** Counts the sample at a position, if it is valid: see WindowCount.h. */
GPUREG_GROUP_FUNCTION void
CountSample(int                               variant,
            const CorrelationRatioArguments * a,
            const SampleMaps *                maps,
            const SampleVolumes *             v,
            const i64 *                       position,
            GPUREG_LOCAL u32 *                histogram,
            int                               rowEntry,
            int                               lowEntries,
            int                               stride,
            u64 *                             laneSum)
{
  u32 weights[WindowEntries], low[WindowEntries], squares;
  if (CountsHalves(variant))
  {
    if (ComputeFixedPointWindow(variant, a, maps, v, position, weights, low))
    {
      AddWindow(histogram, rowEntry, stride, WindowEntries, weights);
      AddWindow(histogram, lowEntries + rowEntry, stride, WindowEntries, low);
    }
  }
  else if (ComputeWindow(variant, a, maps, v, position, weights, &squares))
  {
    AddWindow(histogram, rowEntry, stride, CorrelationRatioWindow, weights);
    *laneSum += squares;
  }
}

/** Returns the even row of the two to whose entries of squares a lane's sum is added, different for neighbouring lanes, so that they
 *  seldom add to the same entry. */
GPUREG_FUNCTION int
RowOfLaneSum(int lane, int rows)
{
  return 2 * lane % rows;
}

/** Splits a lane's sum: the entry of the even row counts multiples of 2^CorrelationRatioSquaresShift, that of the next row the
 *  remainder. */
GPUREG_FUNCTION void
SplitLaneSum(u64 laneSum, u32 * even, u32 * odd)
{
  *even = (u32)(laneSum >> CorrelationRatioSquaresShift);
  *odd = (u32)laneSum & (((u32)1 << CorrelationRatioSquaresShift) - 1);
}

/** Adds a lane's sum of squares to the histogram: see LaneSum.h. rows: an even number. */
GPUREG_GROUP_FUNCTION void
CountLaneSum(int                               variant,
             const CorrelationRatioArguments * a,
             u64                               laneSum,
             int                               lane,
             int                               rows,
             GPUREG_LOCAL u32 *                histogram,
             int                               stride)
{
  if (!CountsHalves(variant) && laneSum != 0)
  {
    const int entry = RowOfLaneSum(lane, rows) * a->histogram.columns + CorrelationRatioSquares;
    u32       even, odd;
    SplitLaneSum(laneSum, &even, &odd);
    AddToEntry(histogram, entry, stride, even);
    AddToEntry(histogram, entry + a->histogram.columns, stride, odd);
  }
}

GPUREG_NAMESPACE_END

#endif
