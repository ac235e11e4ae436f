// SPDX-License-Identifier: Apache-2.0
// The work-group that computes the value of a candidate of the joint histogram's metric, for the devices that have work-groups: CUDA and
// OpenCL. src/engine/metric/histogram/SmoothedDensity.cpp computes the same in plain loops; tests compare the two.
#ifndef gpureg_kernels_JointHistogramSummaryKernels_h
#define gpureg_kernels_JointHistogramSummaryKernels_h

GPUREG_NAMESPACE_BEGIN

/** Returns the number of samples in a histogram, the same in all lanes. scratch: LaneCount() 64-bit integers, free afterwards. */
GPUREG_GROUP_FUNCTION u64
SumCountsOverLanes(const HistogramArguments * a, GPUREG_GLOBAL const u64 * histogram, GPUREG_LOCAL u64 * scratch)
{
  const int bins = a->rows;
  u64       count = 0;
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    count += histogram[entry / bins * a->columns + entry % bins];
  }
  count = SumIntegersOverLanes(count, scratch);
  LocalBarrier();
  return count;
}

/** Sums up a candidate, by one group: the number of its samples, and the bits of its mutual information. scratch: CountSummaryScratch()
 *  64-bit numbers. */
GPUREG_GROUP_FUNCTION void
SummaryGroup(int                                    variant,
             const JointHistogramSummaryArguments * a,
             GPUREG_GLOBAL const u64 *              histogram,
             GPUREG_LOCAL u64 *                     scratch,
             GPUREG_GLOBAL i64 *                    summary)
{
  const JointDensityArguments * d = &a->density;
  const int                     bins = a->histogram.rows;
  const int                     entries = bins * bins;
  const u64                     count = SumCountsOverLanes(&a->histogram, histogram, scratch);
  GPUREG_LOCAL double *         joint = (GPUREG_LOCAL double *)scratch;
  GPUREG_LOCAL double *         other = joint + entries;
  GPUREG_LOCAL double *         marginals = other + entries;
  for (int entry = LaneIndex(); entry < entries; entry += LaneCount())
  {
    joint[entry] = DensityOfCount(histogram[entry / bins * a->histogram.columns + entry % bins], count);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < entries; entry += LaneCount())
  {
    other[entry] = SmoothDensity(d, bins, joint + entry - entry % bins, 1, entry % bins);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < entries; entry += LaneCount())
  {
    joint[entry] = SmoothDensity(d, bins, other + entry % bins, bins, entry / bins);
  }
  LocalBarrier();
  for (int marginal = LaneIndex(); marginal < 2 * bins; marginal += LaneCount())
  {
    marginals[marginal] = MarginalDensity(bins, joint, marginal);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < entries; entry += LaneCount())
  {
    other[entry] = MutualInformationOfEntry(d, bins, joint, marginals, entry / bins, entry % bins);
  }
  LocalBarrier();
  // The sums over each fixed bin's entries replace the marginals of the fixed bins.
  for (int row = LaneIndex(); row < bins; row += LaneCount())
  {
    marginals[row] = SumLine(bins, other + row * bins, 1);
  }
  LocalBarrier();
  if (LaneIndex() == 0)
  {
    summary[0] = (i64)count;
    summary[1] = BitsOfDouble(MutualInformationOfRows(bins, marginals));
    summary[2] = 0;
    summary[3] = 0;
  }
  (void)variant;
}

GPUREG_NAMESPACE_END

#endif
