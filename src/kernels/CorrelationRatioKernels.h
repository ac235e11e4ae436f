// SPDX-License-Identifier: Apache-2.0
// The work-group that makes the table of the correlation ratio from its sums, for the devices that have work-groups: CUDA
// and OpenCL. src/host/CorrelationRatioPasses.cpp says the same in plain loops and is what this is tested against.
#ifndef gpureg_kernels_CorrelationRatioKernels_h
#define gpureg_kernels_CorrelationRatioKernels_h

GPUREG_NAMESPACE_BEGIN

/** The sum of each lane's value, the same in all lanes. scratch: LaneCount() 64-bit integers. */
GPUREG_GROUP_FUNCTION u64
SumIntegersOverLanes(u64 value, GPUREG_LOCAL u64 * scratch)
{
  const int lane = LaneIndex();
  LocalBarrier();
  scratch[lane] = value;
  LocalBarrier();
  for (int width = LaneCount() / 2; width > 0; width /= 2)
  {
    if (lane < width)
    {
      scratch[lane] += scratch[lane + width];
    }
    LocalBarrier();
  }
  return scratch[0];
}

/** One group makes the table of the second pass: floats, or 64-bit integers where the variant is precise. integers:
 *  LaneCount() 64-bit ones. */
GPUREG_GROUP_FUNCTION void
TableGroup(int                               variant,
           const CorrelationRatioArguments * a,
           GPUREG_GLOBAL const u64 *         histogram,
           GPUREG_LOCAL float *              scratch,
           GPUREG_LOCAL float *              integers,
           GPUREG_GLOBAL void *              table)
{
  GPUREG_LOCAL u64 *   exchange = (GPUREG_LOCAL u64 *)integers;
  const int            rows = a->histogram.rows;
  CorrelationRatioSums all = { 0, 0, 0 };
  u64                  within = 0;
  for (int row = LaneIndex(); row < rows; row += LaneCount())
  {
    const CorrelationRatioSums ofBin = ReadSums(histogram + row * CorrelationRatioColumns);
    AddSums(histogram + row * CorrelationRatioColumns, &all);
    within += (u64)SumOfDeviations(&ofBin);
  }
  all.count = SumIntegersOverLanes(all.count, exchange);
  all.sum = SumIntegersOverLanes(all.sum, exchange);
  all.squares = SumIntegersOverLanes(all.squares, exchange);
  within = SumIntegersOverLanes(within, exchange);
  const i64 mean = FindMean(&all);
  const i64 ratio = RatioOfDeviations((i64)within, SumOfDeviations(&all));
  for (int row = LaneIndex(); row < rows; row += LaneCount())
  {
    const CorrelationRatioSums ofBin = ReadSums(histogram + row * CorrelationRatioColumns);
    WriteTableRow(variant, row, FindMean(&ofBin), mean, ratio, table);
  }
  (void)scratch;
}

GPUREG_NAMESPACE_END

#endif
