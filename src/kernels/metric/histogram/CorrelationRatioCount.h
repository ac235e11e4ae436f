// SPDX-License-Identifier: Apache-2.0
// How samples are counted in the correlation ratio's histogram: each in its fixed bin, two counters, and its Y² in its lane's
// register, which is added to the cells of squares at the end. Where weights are counted by halves, all in the bin.
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
            int                               rowCell,
            int                               lowCells,
            int                               stride,
            u64 *                             laneSum)
{
  u32 weights[WindowCells], low[WindowCells], squares;
  if (CountsHalves(variant))
  {
    if (FindPreciseWindow(variant, a, maps, v, position, weights, low))
    {
      AddWindow(histogram, rowCell, stride, WindowCells, weights);
      AddWindow(histogram, lowCells + rowCell, stride, WindowCells, low);
    }
  }
  else if (FindWindow(variant, a, maps, v, position, weights, &squares))
  {
    AddWindow(histogram, rowCell, stride, CorrelationRatioWindow, weights);
    *laneSum += squares;
  }
}

/** The even row of two whose cells of squares a lane's sum goes to, so that lanes seldom meet. */
GPUREG_FUNCTION int
RowOfLaneSum(int lane, int rows)
{
  return 2 * lane % rows;
}

/** What it counts in that row, and in the next. */
GPUREG_FUNCTION void
SplitLaneSum(u64 laneSum, u32 * even, u32 * odd)
{
  *even = (u32)(laneSum >> CorrelationRatioSquaresShift);
  *odd = (u32)laneSum & (((u32)1 << CorrelationRatioSquaresShift) - 1);
}

/** Counts the squares that a lane has summed up: see LaneSum.h. rows: an even number. */
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
    const int cell = RowOfLaneSum(lane, rows) * a->histogram.columns + CorrelationRatioSquares;
    u32       even, odd;
    SplitLaneSum(laneSum, &even, &odd);
    AddToCell(histogram, cell, stride, even);
    AddToCell(histogram, cell + a->histogram.columns, stride, odd);
  }
}

GPUREG_NAMESPACE_END

#endif
