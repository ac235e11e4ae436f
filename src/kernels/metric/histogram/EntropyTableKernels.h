// SPDX-License-Identifier: Apache-2.0
// The work-group that computes the table of a mutual information, by Mattes or by partial volume, from its joint histogram, for the devices
// that have work-groups: CUDA and OpenCL. src/host/metric/histogram/HostEntropyPasses.h computes the same in plain loops; tests compare the
// two.
#ifndef gpureg_kernels_EntropyTableKernels_h
#define gpureg_kernels_EntropyTableKernels_h

GPUREG_NAMESPACE_BEGIN

/** Fills the table of the second pass in units of 2^-32, see FixedPointTableEntry. logarithms: room for `bins` 64-bit integers. */
GPUREG_METRIC_GROUP_FUNCTION void
FillFixedPointEntropyTable(const MetricArguments *   a,
                           GPUREG_GLOBAL const u64 * histogram,
                           float                     nmi,
                           float                     inverseJointEntropy,
                           GPUREG_LOCAL i64 *        logarithms,
                           GPUREG_GLOBAL i64 *       table)
{
  const int bins = a->histogram.rows;
  LocalBarrier();
  for (int bin = LaneIndex(); bin < bins; bin += LaneCount())
  {
    u64 sum = 0;
    GPUREG_UNROLL_8
    for (int other = 0; other < bins; ++other)
    {
      sum += histogram[bin + other * bins];
    }
    logarithms[bin] = LogOfCount(sum);
  }
  LocalBarrier();
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    table[entry] = FixedPointTableEntry(
      a->normalized, LogOfCount(histogram[entry]), logarithms[entry % bins], nmi, inverseJointEntropy);
  }
}

/** Fills the table of the second pass from the histogram, by one group: floats, or 64-bit integers in fixed-point variants; and
 *  NumbersBehindTable behind the entries. scratch: LaneCount() floats; marginals: room for 2·bins floats, and for `bins` 64-bit
 *  integers. */
GPUREG_METRIC_GROUP_FUNCTION void
TableGroup(int                       variant,
           const MetricArguments *   a,
           GPUREG_GLOBAL const u64 * histogram,
           GPUREG_LOCAL float *      scratch,
           GPUREG_LOCAL float *      marginals,
           GPUREG_GLOBAL void *      table)
{
  const int            lane = LaneIndex();
  const int            lanes = LaneCount();
  const int            bins = a->histogram.rows;
  GPUREG_LOCAL float * fixedMarginal = marginals;
  GPUREG_LOCAL float * movingMarginal = marginals + bins;
  float                count = 0.0f;
  // Rows first, then columns: a lane sums one row or column.
  for (int line = lane; line < 2 * bins; line += lanes)
  {
    const int isRow = line < bins;
    const int first = isRow ? line * bins : line - bins;
    const int stride = isRow ? 1 : bins;
    u64       sum = 0;
    GPUREG_UNROLL_8
    for (int other = 0; other < bins; ++other)
    {
      sum += histogram[first + other * stride];
    }
    marginals[line] = (float)sum;
    count += isRow ? (float)sum : 0.0f;
  }
  count = SumOverLanes(count, scratch);
  const float scale = 1.0f / count;

  float nmi = 0.0f;
  float inverseJointEntropy = 0.0f;
  if (a->normalized)
  {
    float marginalEntropies = 0.0f;
    for (int bin = lane; bin < bins; bin += lanes)
    {
      marginalEntropies += EntropyTerm(fixedMarginal[bin] * scale) + EntropyTerm(movingMarginal[bin] * scale);
    }
    float jointEntropy = 0.0f;
    for (int entry = lane; entry < bins * bins; entry += lanes)
    {
      jointEntropy += EntropyTerm((float)histogram[entry] * scale);
    }
    marginalEntropies = SumOverLanes(marginalEntropies, scratch);
    jointEntropy = SumOverLanes(jointEntropy, scratch);
    inverseJointEntropy = jointEntropy > 0.0f ? 1.0f / jointEntropy : 0.0f;
    nmi = marginalEntropies * inverseJointEntropy;
  }
  float value = nmi;
  if (!a->normalized)
  {
    for (int entry = lane; entry < bins * bins; entry += lanes)
    {
      value += MutualInformationTerm((float)histogram[entry] * scale,
                                     fixedMarginal[entry / bins] * scale,
                                     movingMarginal[entry % bins] * scale);
    }
    value = SumOverLanes(value, scratch);
  }
  GPUREG_GLOBAL float * entries = (GPUREG_GLOBAL float *)table;
  if (lane == 0)
  {
    GPUREG_GLOBAL float * numbers = entries + bins * bins * (TableEntryBytes(variant) / (int)sizeof(float));
    numbers[EvaluatedFactor] = count > 0.0f ? scale : 0.0f;
    numbers[EvaluatedValue] = count > 0.0f ? value : GPUREG_NO_EVALUATED_VALUE;
  }
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    FillFixedPointEntropyTable(
      a, histogram, nmi, inverseJointEntropy, (GPUREG_LOCAL i64 *)marginals, (GPUREG_GLOBAL i64 *)table);
    return;
  }
  for (int entry = lane; entry < bins * bins; entry += lanes)
  {
    entries[entry] = TableEntry(a->normalized,
                                (float)histogram[entry] * scale,
                                movingMarginal[entry % bins] * scale,
                                scale,
                                nmi,
                                inverseJointEntropy);
  }
}

/** Sums up a candidate, by one group, in the histogram's unit: the count N, and Σ n ln n over the joint histogram, over its fixed
 *  marginal and over its moving one. The entropies follow as H = ln N - Σ n ln n/N. scratch: LaneCount() 64-bit integers. */
GPUREG_METRIC_GROUP_FUNCTION void
SummaryGroup(int                       variant,
             const MetricArguments *   a,
             GPUREG_GLOBAL const u64 * histogram,
             GPUREG_LOCAL u64 *        scratch,
             GPUREG_GLOBAL i64 *       summary)
{
  const int bins = a->histogram.rows;
  u64       sums[4] = { 0, 0, 0, 0 };
  for (int entry = LaneIndex(); entry < bins * bins; entry += LaneCount())
  {
    sums[0] += histogram[entry];
    sums[1] += (u64)CountTimesLog(histogram[entry]);
  }
  for (int line = LaneIndex(); line < 2 * bins; line += LaneCount())
  {
    const int isRow = line < bins;
    const int first = isRow ? line * bins : line - bins;
    const int stride = isRow ? 1 : bins;
    u64       sum = 0;
    GPUREG_UNROLL_8
    for (int other = 0; other < bins; ++other)
    {
      sum += histogram[first + other * stride];
    }
    sums[isRow ? 2 : 3] += (u64)CountTimesLog(sum);
  }
  for (int s = 0; s < 4; ++s)
  {
    sums[s] = SumIntegersOverLanes(sums[s], scratch);
  }
  if (LaneIndex() == 0)
  {
    for (int s = 0; s < 4; ++s)
    {
      summary[s] = (i64)sums[s];
    }
  }
  (void)variant;
}

GPUREG_NAMESPACE_END

#endif
