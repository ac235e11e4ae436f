// SPDX-License-Identifier: Apache-2.0
// The table that the second pass looks up, from the counts of a joint histogram: the counts smoothed by a Gaussian along both axes, an
// edge's count repeated beyond it, as in itk::DiscreteGaussianImageFilter, and one of their marginals. Each function computes one entry of
// a step; between steps, a device's group waits at a barrier. The derivative does not depend on the unit of the counts.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramTable_h
#define gpureg_kernels_JointHistogramTable_h

GPUREG_NAMESPACE_BEGIN

/** Returns the place of an entry, of the fixed bin entry / bins, in a block of its row of the table. */
GPUREG_FUNCTION i64
JointTableEntry(const JointHistogramArguments * a, int block, int entry)
{
  const int bins = a->histogram.rows;
  return (i64)(entry / bins) * a->histogram.tableColumns + block * bins + entry % bins;
}

/** Returns the place of an entry in the histogram, whose rows have one entry more. */
GPUREG_FUNCTION i64
EntryOfHistogram(const JointHistogramArguments * a, int entry)
{
  const int bins = a->histogram.rows;
  return (i64)(entry / bins) * a->histogram.columns + entry % bins;
}

/** Returns the Gaussian's sum at one place along a line of bins, `stride` apart. */
GPUREG_FUNCTION float
SmoothLine(const JointHistogramArguments * a, GPUREG_GLOBAL const float * line, int stride, int place)
{
  const float unit = 1.0f / 1073741824.0f;
  float       sum = (float)a->smoothing[0] * unit * line[(i64)place * stride];
  for (int r = 1; r <= a->smoothingRadius; ++r)
  {
    int before, behind;
    ComputeSmoothedBins(a->histogram.rows, place, r, &before, &behind);
    sum = MultiplyAdd((float)a->smoothing[r] * unit, line[(i64)before * stride] + line[(i64)behind * stride], sum);
  }
  return sum;
}

/** Step 1: writes an entry's count to the block of the row's own counts. */
GPUREG_FUNCTION void
PutJointCount(const JointHistogramArguments * a,
              GPUREG_GLOBAL const u64 *       histogram,
              int                             entry,
              GPUREG_GLOBAL float *           table)
{
  table[JointTableEntry(a, BlockOwn, entry)] = (float)histogram[EntryOfHistogram(a, entry)];
}

/** Step 2: smooths an entry's count along the moving bins, from the block of the row's own counts to that of the marginal. */
GPUREG_FUNCTION void
SmoothAlongMoving(const JointHistogramArguments * a, int entry, GPUREG_GLOBAL float * table)
{
  const int bins = a->histogram.rows;
  table[JointTableEntry(a, BlockMarginal, entry)] =
    SmoothLine(a, table + JointTableEntry(a, BlockOwn, entry - entry % bins), 1, entry % bins);
}

/** Step 3: smooths it along the fixed bins, back to the block of the row's own counts. */
GPUREG_FUNCTION void
SmoothAlongFixed(const JointHistogramArguments * a, int entry, GPUREG_GLOBAL float * table)
{
  const int bins = a->histogram.rows;
  table[JointTableEntry(a, BlockOwn, entry)] =
    SmoothLine(a, table + JointTableEntry(a, BlockMarginal, entry % bins), a->histogram.tableColumns, entry / bins);
}

/** Step 4: returns a bin's marginal. */
GPUREG_FUNCTION float
SumMarginal(const JointHistogramArguments * a, int bin, GPUREG_GLOBAL const float * table)
{
  const int bins = a->histogram.rows;
  float     sum = 0.0f;
  for (int other = 0; other < bins; ++other)
  {
    sum += table[JointTableEntry(a, BlockOwn, a->marginalOfFixed ? bin * bins + other : other * bins + bin)];
  }
  return sum;
}

/** Step 5: writes a histogram entry's numbers in the other blocks. */
GPUREG_FUNCTION void
FinishJointEntries(const JointHistogramArguments * a, int entry, float marginal, GPUREG_GLOBAL float * table)
{
  const int bins = a->histogram.rows;
  const int row = entry / bins;
  table[JointTableEntry(a, BlockBelow, entry)] = table[JointTableEntry(a, BlockOwn, row > 0 ? entry - bins : entry)];
  table[JointTableEntry(a, BlockAbove, entry)] =
    table[JointTableEntry(a, BlockOwn, row < bins - 1 ? entry + bins : entry)];
  table[JointTableEntry(a, BlockMarginal, entry)] = marginal;
}

/** Returns the number of bits for the fixed-point counterparts of these steps below: counts are in units of 2^-bits there, so that the
 *  sum of all counts has some 60 bits. */
GPUREG_FUNCTION int
ComputeCountBits(u64 sum)
{
  int bits = 60;
  while (bits > 0 && (sum >> (60 - bits)) > 0)
  {
    --bits;
  }
  return bits;
}

GPUREG_FUNCTION i64
SmoothFixedPointLine(const JointHistogramArguments * a, GPUREG_GLOBAL const i64 * line, int stride, int place)
{
  i64 sum = MultiplyFixedToNearest(line[(i64)place * stride], (i64)a->smoothing[0] << 2);
  for (int r = 1; r <= a->smoothingRadius; ++r)
  {
    int before, behind;
    ComputeSmoothedBins(a->histogram.rows, place, r, &before, &behind);
    sum += MultiplyFixedToNearest(line[(i64)before * stride], (i64)a->smoothing[r] << 2) +
           MultiplyFixedToNearest(line[(i64)behind * stride], (i64)a->smoothing[r] << 2);
  }
  return sum;
}

GPUREG_FUNCTION void
PutFixedPointJointCount(const JointHistogramArguments * a,
                        GPUREG_GLOBAL const u64 *       histogram,
                        int                             entry,
                        int                             bits,
                        GPUREG_GLOBAL i64 *             table)
{
  table[JointTableEntry(a, BlockOwn, entry)] = (i64)(histogram[EntryOfHistogram(a, entry)] << bits);
}

GPUREG_FUNCTION void
SmoothAlongMovingInFixedPoint(const JointHistogramArguments * a, int entry, GPUREG_GLOBAL i64 * table)
{
  const int bins = a->histogram.rows;
  table[JointTableEntry(a, BlockMarginal, entry)] =
    SmoothFixedPointLine(a, table + JointTableEntry(a, BlockOwn, entry - entry % bins), 1, entry % bins);
}

GPUREG_FUNCTION void
SmoothAlongFixedInFixedPoint(const JointHistogramArguments * a, int entry, GPUREG_GLOBAL i64 * table)
{
  const int bins = a->histogram.rows;
  table[JointTableEntry(a, BlockOwn, entry)] = SmoothFixedPointLine(
    a, table + JointTableEntry(a, BlockMarginal, entry % bins), a->histogram.tableColumns, entry / bins);
}

GPUREG_FUNCTION i64
SumFixedPointMarginal(const JointHistogramArguments * a, int bin, GPUREG_GLOBAL const i64 * table)
{
  const int bins = a->histogram.rows;
  i64       sum = 0;
  for (int other = 0; other < bins; ++other)
  {
    sum += table[JointTableEntry(a, BlockOwn, a->marginalOfFixed ? bin * bins + other : other * bins + bin)];
  }
  return sum;
}

GPUREG_FUNCTION void
FinishFixedPointJointEntries(const JointHistogramArguments * a, int entry, i64 marginal, GPUREG_GLOBAL i64 * table)
{
  const int bins = a->histogram.rows;
  const int row = entry / bins;
  table[JointTableEntry(a, BlockBelow, entry)] = table[JointTableEntry(a, BlockOwn, row > 0 ? entry - bins : entry)];
  table[JointTableEntry(a, BlockAbove, entry)] =
    table[JointTableEntry(a, BlockOwn, row < bins - 1 ? entry + bins : entry)];
  table[JointTableEntry(a, BlockMarginal, entry)] = marginal;
}

GPUREG_NAMESPACE_END

#endif
