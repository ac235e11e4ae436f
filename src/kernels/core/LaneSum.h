// SPDX-License-Identifier: Apache-2.0
// A sum over all samples of a lane, whatever their fixed bins, which CountSample() adds to in a register: most metrics have none.
// One that has adds it to the histogram by a CountLaneSum() of its own.
#ifndef gpureg_kernels_LaneSum_h
#define gpureg_kernels_LaneSum_h

GPUREG_NAMESPACE_BEGIN

/** Counts what a lane has summed up, in a histogram of so many fixed bins, one or more, whose cells lie `stride` apart. */
GPUREG_METRIC_GROUP_FUNCTION void
CountLaneSum(
  int variant, const MetricArguments * a, u64 laneSum, int lane, int rows, GPUREG_LOCAL u32 * histogram, int stride)
{
  (void)variant;
  (void)a;
  (void)laneSum;
  (void)lane;
  (void)rows;
  (void)histogram;
  (void)stride;
}

GPUREG_NAMESPACE_END

#endif
