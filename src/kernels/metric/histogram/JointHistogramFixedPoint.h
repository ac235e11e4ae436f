// SPDX-License-Identifier: Apache-2.0
// The fixed-point counterpart of JointHistogramSample.h, for few samples: see FixedPointSamples.h.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramFixedPoint_h
#define gpureg_kernels_JointHistogramFixedPoint_h

GPUREG_NAMESPACE_BEGIN

/** Returns the place of a value among the bins, plus half a bin, in units of 2^-32, rounded to the nearest: the largest value lies
 *  exactly on the last bin; just before it, a little of the neighbour's marginal would enter where its own is 0. */
GPUREG_FUNCTION i64
ComputeFixedPointPlace(const SampleMaps * maps, i64 value)
{
  const i64 fromFirst = (MultiplyFixed(value, maps->valuesPerUnit) + ((i64)1 << 15)) >> 16;
  return fromFirst + ((i64)JointHistogramPadding << 32) + GPUREG_FIXED_HALF;
}

GPUREG_FUNCTION int
IsInFixedPointRange(int variant, const SampleMaps * maps, i64 value)
{
  return !VariantHas(variant, ChecksRange) || (value >= 0 && value <= maps->range);
}

/** Computes ComputeMovingBin in fixed point. A value counts as half-way between two bins if it is half-way but for the last digits of its
 *  place. */
GPUREG_FUNCTION int
ComputeFixedPointMovingBin(int                             variant,
                           const JointHistogramArguments * a,
                           const SampleMaps *              maps,
                           const SampleVolumes *           v,
                           const i64 *                     position,
                           int *                           bin,
                           int *                           hasForce)
{
  i64 value;
  if (!SampleFixedPointValue(variant, &a->histogram.samples, maps, v, position, &value))
  {
    return 0;
  }
  const i64 place = ComputeFixedPointPlace(maps, value);
  const int isTie = (u32)(place + 2) <= 4u;
  *bin = isTie ? IntegerPart(place + 2) - TieGoesDown(a, IntegerPart(place + 2)) : IntegerPart(place);
  *hasForce = IsInFixedPointRange(variant, maps, value);
  return 1;
}

/** Pass 1: counts the sample at a position, if it is valid, in its bin: see WindowCount.h. */
GPUREG_GROUP_FUNCTION void
CountSample(int                             variant,
            const JointHistogramArguments * a,
            const SampleMaps *              maps,
            const SampleVolumes *           v,
            const i64 *                     position,
            GPUREG_LOCAL u32 *              histogram,
            int                             rowEntry,
            int                             lowEntries,
            int                             stride,
            u64 *                           laneSum)
{
  (void)lowEntries;
  (void)laneSum;
  const int bins = a->histogram.rows;
  int       bin = 0, hasForce = 0;
  const int isValid = CountsHalves(variant) ? ComputeFixedPointMovingBin(variant, a, maps, v, position, &bin, &hasForce)
                                            : ComputeMovingBin(variant, a, maps, v, position, &bin, &hasForce);
  if (!isValid || bin < 0 || bin >= bins)
  {
    return;
  }
  AddToSharedEntry(histogram, rowEntry + bin, stride, 1);
  if (VariantHas(variant, ChecksRange) && hasForce)
  {
    AddToSharedEntry(histogram, rowEntry + bins, stride, 1);
  }
}

/** Interpolates counts at a distance t, in units of 2^-32 of a bin, from the place of the middle one. A result no larger than an error
 *  in the last digits of t would make is 0: ITK's is 0 for a value exactly at the place of an empty bin, such as the largest value. */
GPUREG_FUNCTION i64
InterpolateFixedPointBins(i64 before, i64 middle, i64 behind, i64 t)
{
  const i64 slope = t >= 0 ? behind - middle : middle - before;
  const i64 count = middle + MultiplyFixed(slope, t);
  const i64 unknown = ((slope < 0 ? -slope : slope) >> 29) + 1;
  return count > unknown ? count : 0;
}

/** Computes ComputeForce in fixed point. Differences of the table's entries are taken before they become floats. */
GPUREG_FUNCTION int
ComputeFixedPointForce(int                             variant,
                       const JointHistogramArguments * a,
                       const SampleMaps *              maps,
                       const SampleVolumes *           v,
                       i64                             sample,
                       const i64 *                     position,
                       GPUREG_LOCAL const i64 *        tableRow,
                       float *                         force)
{
  i64       value;
  float     gradient[3];
  const int bins = a->histogram.rows;
  if (!SampleFixedPointValue(variant, &a->histogram.samples, maps, v, position, &value) ||
      !IsInFixedPointRange(variant, maps, value))
  {
    return 0;
  }
  SampleFixedPointGradient(variant, &a->histogram.samples, maps, v, position, gradient);
  const i64 inRange = value < 0 ? 0 : (value < maps->range ? value : maps->range);
  const i64 place = ComputeFixedPointPlace(maps, inRange);
  const int bin = IntegerPart(place);
  const i64 t = (i64)(u32)place - GPUREG_FIXED_HALF;
  float     below, above;
  ComputeSlopeWeights(bins, bin, (float)(u32)place * GPUREG_FIXED_UNIT, &below, &above);

  // In units of 2^-32 of a bin.
  const i64                fixedPlace = ToFixed((float)v->fixedValuesInFixedPoint[sample] * maps->unitsToFixedValues);
  const i64                s = fixedPlace < 0 ? -fixedPlace : fixedPlace;
  GPUREG_LOCAL const i64 * own = tableRow + BlockOwn * bins + bin;
  GPUREG_LOCAL const i64 * next = tableRow + (fixedPlace < 0 ? BlockBelow : BlockAbove) * bins + bin;
  GPUREG_LOCAL const i64 * marginals = tableRow + BlockMarginal * bins + bin;
  const i64                before = MixFixed(own[-1], next[-1], s);
  const i64                middle = MixFixed(own[0], next[0], s);
  const i64                behind = MixFixed(own[1], next[1], s);
  const i64                joint = InterpolateFixedPointBins(before, middle, behind, t);
  const i64                marginal = InterpolateFixedPointBins(marginals[-1], marginals[0], marginals[1], t);
  const float              jointSlope = below * (float)(middle - before) + above * (float)(behind - middle);
  const float              marginalSlope =
    below * (float)(marginals[0] - marginals[-1]) + above * (float)(marginals[1] - marginals[0]);
  const float weight = JointForce((float)joint, jointSlope, (float)marginal, marginalSlope);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  return 1;
}

GPUREG_NAMESPACE_END

#endif
