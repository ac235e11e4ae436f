// SPDX-License-Identifier: Apache-2.0
// One sample of the joint histogram with nearest bins, and its force, by the formulas of
// itk::JointHistogramMutualInformationImageToImageMetricv4. Moving values are in bins above the minimum, K·(v - min)/(max - min) in [0, K],
// K = bins - 5; the place of a value among the bins is larger by 2, and its bin is the nearest one. The device counts whole samples. The
// table follows from the counts: smoothed by a Gaussian, with the marginal by which the derivative divides, see JointHistogramTable.h.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramSample_h
#define gpureg_kernels_JointHistogramSample_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Empty bins at each end. */
  JointHistogramPadding = 2,
  /** Bins into which the range of values is not divided: the empty ones, and one more, since both ends of the range lie on bins. */
  JointHistogramExtraBins = 2 * JointHistogramPadding + 1,
  MostJointHistogramBins = 1024,
  TieWords = MostJointHistogramBins / 32
};

/** The blocks of a table's row. A row belongs to a fixed bin, and a block has one entry for each moving bin: the smoothed counts of the
 *  fixed bin below, of the row's own fixed bin and of the fixed bin above, and the marginal. */
enum
{
  BlockBelow,
  BlockOwn,
  BlockAbove,
  BlockMarginal,
  JointTableBlocks
};

/** Arguments of an evaluation besides the volumes and SampleMaps. 32-bit members only. A row of the histogram has one entry more than
 *  there are moving bins: in variants that check the range, it counts the samples that have a force. */
typedef struct JointHistogramArguments
{
  HistogramArguments histogram;
  float              rangeEnd;    /* K, the largest value */
  float              acceptBegin; /* the range of values that round into [0, rangeEnd]: as in MattesArguments */
  float              acceptEnd;
  int marginalOfFixed; /* true if the derivative divides by the fixed marginal, false if by the moving one */
  int smoothingRadius; /* of the Gaussian, in bins */
  int smoothing[MostSmoothingWeights]; /* the Gaussian's weights from its centre on, in units of 2^-30 */
  u32 ties[TieWords];                  /* bit n: a value half-way between bins n - 1 and n is counted in n - 1 */
} JointHistogramArguments;

GPUREG_FUNCTION int
TieGoesDown(const JointHistogramArguments * a, int bin)
{
  return bin >= 0 && bin < a->histogram.rows && ((a->ties[bin / 32] >> (bin % 32)) & 1u);
}

/** Returns the bin nearest to a value, which may lie outside of the histogram. If the value is half-way between two bins, as values of
 *  few digits may be, it is the one to which ITK rounds. */
GPUREG_FUNCTION int
ComputeJointBin(const JointHistogramArguments * a, float u, float * t)
{
  const float place = u + ((float)JointHistogramPadding + 0.5f);
  const float below = FloorOf(place);
  const int   bin = (int)below;
  *t = place - below;
  return *t == 0.0f && TieGoesDown(a, bin) ? bin - 1 : bin;
}

/** Returns 1 if ITK gives a sample of this value a force. */
GPUREG_FUNCTION int
IsInJointRange(int variant, const JointHistogramArguments * a, float u)
{
  return !VariantHas(variant, ChecksRange) || (u >= a->acceptBegin && u <= a->acceptEnd);
}

/** Finds the moving bin of the sample at a position, which may lie outside of the histogram, and whether the sample has a force. Returns
 *  0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeMovingBin(int                             variant,
                 const JointHistogramArguments * a,
                 const SampleMaps *              maps,
                 const SampleVolumes *           v,
                 const i64 *                     position,
                 int *                           bin,
                 int *                           hasForce)
{
  float t, u = 0.0f;
  if (!SampleMovingValue(variant, &a->histogram.samples, maps, v, position, &u))
  {
    return 0;
  }
  *bin = ComputeJointBin(a, u, &t);
  *hasForce = IsInJointRange(variant, a, u);
  return 1;
}

/** Returns the count in an entry of a chunk's histogram, in whole samples. */
GPUREG_FUNCTION u64
ReadChunk(
  int variant, const JointHistogramArguments * a, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int entry)
{
  return chunkHistograms[(i64)chunk * CountersPerEntry(variant) * a->histogram.rows * a->histogram.columns + entry];
}

/** Computes the weights of the slopes below and above a value. ITK takes the difference over one bin's width around the value, and
 *  clamps its ends to the range of values except in its first bin; in half of the first bin the slope is 0. */
GPUREG_FUNCTION void
ComputeSlopeWeights(int bins, int bin, float t, float * below, float * above)
{
  const int first = JointHistogramPadding + 1;
  const int last = bins - first;
  *above = bin >= first && bin < last ? t : 0.0f;
  *below = bin > first ? 1.0f - t : 0.0f;
  const float both = *above + *below;
  *above = both > 0.0f ? *above / both : 0.0f;
  *below = both > 0.0f ? *below / both : 0.0f;
}

/** Returns the factor that turns a sample's gradient into its force, from the smoothed count `joint`, the marginal and their slopes
 *  along the moving bins. The formula is ITK's, which is not quite the derivative of ITK's value. */
GPUREG_FUNCTION float
JointForce(float joint, float jointSlope, float marginal, float marginalSlope)
{
  const float ln2 = 0.693147180559945f;
  return joint > 0.0f && marginal > 0.0f
           ? jointSlope * LogOf(joint / marginal) - ln2 * marginalSlope * (joint / marginal)
           : 0.0f;
}

/** Returns the value at the fraction t of the middle bin of a line through three adjacent bins, and computes the slope; the middle bin's
 *  own place is t = 1/2. A value below 3e-5 of the rise, which may come from the last digits of t, is 0, as ITK's is on an empty bin. */
GPUREG_FUNCTION float
InterpolateBins(float before, float middle, float behind, float t, float below, float above, float * slope)
{
  const float rise = t >= 0.5f ? behind - middle : middle - before;
  const float value = MultiplyAdd(t - 0.5f, rise, middle);
  *slope = below * (middle - before) + above * (behind - middle);
  return value > LargerOf(rise, -rise) * 3e-5f ? value : 0.0f;
}

/** Pass 2: computes the force of the sample at a position, from its fixed bin's row of the table. Returns 0 if the sample has no force. */
GPUREG_FUNCTION int
ComputeForce(int                             variant,
             const JointHistogramArguments * a,
             const SampleMaps *              maps,
             const SampleVolumes *           v,
             i64                             sample,
             const i64 *                     position,
             GPUREG_LOCAL const float *      tableRow,
             float *                         force)
{
  float gradient[3], t, u = 0.0f;
  if (!SampleMovingValueAndGradient(variant, &a->histogram.samples, maps, v, position, &u, gradient) ||
      !IsInJointRange(variant, a, u))
  {
    return 0;
  }
  const int bins = a->histogram.rows;
  u = SmallerOf(LargerOf(u, 0.0f), a->rangeEnd);
  const float place = u + ((float)JointHistogramPadding + 0.5f);
  const int   bin = (int)place;
  t = place - (float)bin;
  float below, above;
  ComputeSlopeWeights(bins, bin, t, &below, &above);

  // The place of the fixed value between its bin and the next one.
  const float                fixedPlace = v->fixedValues[sample];
  const float                s = fixedPlace < 0.0f ? -fixedPlace : fixedPlace;
  GPUREG_LOCAL const float * own = tableRow + BlockOwn * bins + bin;
  GPUREG_LOCAL const float * next = tableRow + (fixedPlace < 0.0f ? BlockBelow : BlockAbove) * bins + bin;
  GPUREG_LOCAL const float * marginals = tableRow + BlockMarginal * bins + bin;
  float                      jointSlope, marginalSlope;
  const float                joint = InterpolateBins(
    Mix(own[-1], next[-1], s), Mix(own[0], next[0], s), Mix(own[1], next[1], s), t, below, above, &jointSlope);
  const float marginal = InterpolateBins(marginals[-1], marginals[0], marginals[1], t, below, above, &marginalSlope);
  const float weight = JointForce(joint, jointSlope, marginal, marginalSlope);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  return 1;
}

GPUREG_NAMESPACE_END

#endif
