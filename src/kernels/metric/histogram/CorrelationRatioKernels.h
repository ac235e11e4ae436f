// SPDX-License-Identifier: Apache-2.0
// The work-group that computes the correlation ratio's table from its sums, for the devices that have work-groups: CUDA and OpenCL.
// src/host/metric/histogram/CorrelationRatioPasses.cpp computes the same in plain loops; tests compare the two.
#ifndef gpureg_kernels_CorrelationRatioKernels_h
#define gpureg_kernels_CorrelationRatioKernels_h

GPUREG_NAMESPACE_BEGIN

/** Sums the rows of all fixed bins, and returns A; both are the same in all lanes. scratch: LaneCount() 64-bit integers. */
GPUREG_GROUP_FUNCTION i64
SumDeviationsOverLanes(const HistogramArguments * h,
                       GPUREG_GLOBAL const u64 *  histogram,
                       GPUREG_LOCAL u64 *         scratch,
                       CorrelationRatioSums *     all)
{
  CorrelationRatioSums ofLane = { 0, 0, 0 };
  u64                  explained = 0;
  for (int row = LaneIndex(); row < h->rows; row += LaneCount())
  {
    const CorrelationRatioSums ofBin = ReadSums(histogram + row * h->columns);
    AddSums(histogram + row * h->columns, &ofLane);
    explained += SquareOfSum(&ofBin);
  }
  all->count = SumIntegersOverLanes(ofLane.count, scratch);
  all->sum = SumIntegersOverLanes(ofLane.sum, scratch);
  all->squares = SumIntegersOverLanes(ofLane.squares, scratch);
  return (i64)(all->squares - SumIntegersOverLanes(explained, scratch));
}

/** Fills the table of the second pass, by one group: floats, or 64-bit integers in fixed-point variants; and NumbersBehindTable.
 *  integers: LaneCount() 64-bit ones. */
GPUREG_GROUP_FUNCTION void
TableGroup(int                               variant,
           const CorrelationRatioArguments * a,
           GPUREG_GLOBAL const u64 *         histogram,
           GPUREG_LOCAL float *              scratch,
           GPUREG_LOCAL float *              integers,
           GPUREG_GLOBAL void *              table)
{
  CorrelationRatioSums all;
  const i64            within = SumDeviationsOverLanes(&a->histogram, histogram, (GPUREG_LOCAL u64 *)integers, &all);
  const i64            mean = ComputeMean(&all);
  const i64            ratio = RatioOfDeviations(within, SumOfDeviations(&all));
  for (int row = LaneIndex(); row < a->histogram.rows; row += LaneCount())
  {
    const CorrelationRatioSums ofBin = ReadSums(histogram + row * a->histogram.columns);
    WriteTableRow(variant, row, ComputeMean(&ofBin), mean, ratio, table);
  }
  if (LaneIndex() == 0)
  {
    WriteNumbersBehindTable(variant, a->histogram.rows, &all, ratio, table);
  }
  (void)scratch;
}

/** Sums up a candidate, by one group: A, B, N and, in variants that count weights in 16-bit halves, the number of samples, in the unit
 *  of ReadChunk. scratch: LaneCount() 64-bit integers. */
GPUREG_GROUP_FUNCTION void
SummaryGroup(int                               variant,
             const CorrelationRatioArguments * a,
             GPUREG_GLOBAL const u64 *         histogram,
             GPUREG_LOCAL u64 *                scratch,
             GPUREG_GLOBAL i64 *               summary)
{
  const HistogramArguments * h = &a->histogram;
  CorrelationRatioSums       all;
  const i64                  within = SumDeviationsOverLanes(h, histogram, scratch, &all);
  u64                        points = 0;
  for (int row = LaneIndex(); row < h->rows && h->columns > CorrelationRatioPoints; row += LaneCount())
  {
    points += histogram[row * h->columns + CorrelationRatioPoints];
  }
  points = SumIntegersOverLanes(points, scratch);
  if (LaneIndex() == 0)
  {
    summary[0] = within;
    summary[1] = SumOfDeviations(&all);
    summary[2] = (i64)all.count;
    summary[3] = (i64)points;
  }
  (void)variant;
}

GPUREG_NAMESPACE_END

#endif
