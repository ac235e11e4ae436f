// SPDX-License-Identifier: Apache-2.0
// The default for metrics without a sum over all samples of a lane. A metric that has such a sum lets CountSample() add to it in a
// register, and defines its own CountLaneSum() to add the sum to the histogram.
#ifndef gpureg_kernels_LaneSum_h
#define gpureg_kernels_LaneSum_h

GPUREG_NAMESPACE_BEGIN

/** Adds a lane's sum to a histogram of one or more fixed bins, whose entries are `stride` apart. */
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
