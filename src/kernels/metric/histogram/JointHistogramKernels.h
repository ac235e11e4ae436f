// SPDX-License-Identifier: Apache-2.0
// The work-group that computes the table of the joint histogram's mutual information from the counts, for the devices that have
// work-groups: CUDA and OpenCL. src/host/metric/histogram/JointHistogramPasses.cpp computes the same in plain loops; tests compare the two.
//
// A prelude for these adds: GlobalBarrier().
#ifndef gpureg_kernels_JointHistogramKernels_h
#define gpureg_kernels_JointHistogramKernels_h

GPUREG_NAMESPACE_BEGIN

/** Fills the table with floats. \param marginals room for one a bin. */
GPUREG_GROUP_FUNCTION void
FillJointTable(const JointHistogramArguments * a,
               GPUREG_GLOBAL const u64 *       histogram,
               GPUREG_LOCAL float *            marginals,
               GPUREG_GLOBAL float *           table)
{
  const int bins = a->histogram.rows;
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    PutJointCount(a, histogram, entry, table);
  }
  GlobalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    SmoothAlongMoving(a, entry, table);
  }
  GlobalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    SmoothAlongFixed(a, entry, table);
  }
  GlobalBarrier();
  for (int bin = LaneIndex(); bin < bins; bin += LaneCount())
  {
    marginals[bin] = SumMarginal(a, bin, table);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    FinishJointEntries(a, entry, marginals[entry % bins], table);
  }
}

/** Fills the table in fixed-point variants. \param marginals room for one more than bins. */
GPUREG_GROUP_FUNCTION void
FillFixedPointJointTable(const JointHistogramArguments * a,
                         GPUREG_GLOBAL const u64 *       histogram,
                         GPUREG_LOCAL i64 *              marginals,
                         GPUREG_GLOBAL i64 *             table)
{
  const int bins = a->histogram.rows;
  for (int row = LaneIndex(); row < bins; row += LaneCount())
  {
    i64 sum = 0;
    for (int k = 0; k < bins; ++k)
    {
      sum += (i64)histogram[EntryOfHistogram(a, row * bins + k)];
    }
    marginals[row] = sum;
  }
  LocalBarrier();
  if (LaneIndex() == 0)
  {
    i64 sum = 0;
    for (int row = 0; row < bins; ++row)
    {
      sum += marginals[row];
    }
    marginals[bins] = ComputeCountBits((u64)sum);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    PutFixedPointJointCount(a, histogram, entry, (int)marginals[bins], table);
  }
  GlobalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    SmoothAlongMovingInFixedPoint(a, entry, table);
  }
  GlobalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    SmoothAlongFixedInFixedPoint(a, entry, table);
  }
  GlobalBarrier();
  for (int bin = LaneIndex(); bin < bins; bin += LaneCount())
  {
    marginals[bin] = SumFixedPointMarginal(a, bin, table);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    FinishFixedPointJointEntries(a, entry, marginals[entry % bins], table);
  }
}

/** Fills the table, by one group. \param marginals room for one more 64-bit integer than bins. */
GPUREG_GROUP_FUNCTION void
TableGroup(int                             variant,
           const JointHistogramArguments * a,
           GPUREG_GLOBAL const u64 *       histogram,
           GPUREG_LOCAL float *            scratch,
           GPUREG_LOCAL float *            marginals,
           GPUREG_GLOBAL void *            table)
{
  (void)scratch;
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    FillFixedPointJointTable(a, histogram, (GPUREG_LOCAL i64 *)marginals, (GPUREG_GLOBAL i64 *)table);
  }
  else
  {
    FillJointTable(a, histogram, marginals, (GPUREG_GLOBAL float *)table);
  }
}

GPUREG_NAMESPACE_END

#endif
