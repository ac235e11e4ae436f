// SPDX-License-Identifier: Apache-2.0
// The fixed-point counterpart of MattesSample.h, for few samples: see FixedPointSamples.h.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MattesFixedPoint_h
#define gpureg_kernels_MattesFixedPoint_h

GPUREG_NAMESPACE_BEGIN

/** Computes FitIntoRange in fixed point, in units of a value. */
GPUREG_FUNCTION int
FitFixedPointIntoRange(int variant, const SampleMaps * maps, i64 exact, i64 * value)
{
  *value = exact < 0 ? 0 : (exact < maps->range ? exact : maps->range);
  /* A spline's weights are multiples of 2^-32, so the value interpolated at a voxel with the smallest or the largest value may lie outside
     of the range, by a few of these units times the range. */
  const i64 slack = VariantHas(variant, InterpolatesSpline) ? maps->range >> 30 : 0;
  return !VariantHas(variant, ChecksRange) || (exact >= -slack && exact <= maps->range + slack);
}

/** Computes ComputeMattesValue in fixed point, in units of a value. */
GPUREG_FUNCTION int
ComputeFixedPointMattesValue(int                     variant,
                             const MattesArguments * a,
                             const SampleMaps *      maps,
                             const SampleVolumes *   v,
                             const i64 *             position,
                             i64 *                   value)
{
  i64 exact;
  return SampleFixedPointValue(variant, &a->histogram.samples, maps, v, position, &exact) &&
         FitFixedPointIntoRange(variant, maps, exact, value);
}

/** Computes FirstParzenBin in fixed point; t in units of 2^-32. */
GPUREG_FUNCTION int
FirstFixedPointParzenBin(const MattesArguments * a, const SampleMaps * maps, i64 value, i64 * t)
{
  const i64 u = MultiplyFixed(value, maps->valuesPerUnit) >> 16;
  const int last = (int)a->lastWhole;
  const int whole = IntegerPart(u) < last ? IntegerPart(u) : last;
  *t = u - ((i64)whole << 32);
  return whole + HistogramPadding - 1;
}

/** Computes the Parzen window's weights in units of 2^-32. A bin at the very end of few windows has a small weight, but a derivative
 *  that is not small, see TableEntry. */
GPUREG_FUNCTION void
ParzenWeightHalves(i64 t, u32 * high, u32 * low)
{
  i64 weights[4];
  FixedSplineWeights(3, t, weights);
  SplitWeights(weights, high, low);
}

/** Pass 1: finds the first bin of the Parzen window of the sample at a position, and its weights. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeFixedPointWindow(int                     variant,
                        const MattesArguments * a,
                        const SampleMaps *      maps,
                        const SampleVolumes *   v,
                        const i64 *             position,
                        int *                   first,
                        u32 *                   high,
                        u32 *                   low)
{
  i64 value, t;
  if (!ComputeFixedPointMattesValue(variant, a, maps, v, position, &value))
  {
    return 0;
  }
  *first = FirstFixedPointParzenBin(a, maps, value, &t);
  ParzenWeightHalves(t, high, low);
  return 1;
}

/** Returns ParzenForce in units of 2^-32: a cubic spline's derivative is the quadratic spline of its coefficients' differences. Where
 *  the differences nearly cancel and the gradient is large, floats would leave too few digits. */
GPUREG_FUNCTION i64
FixedPointParzenForce(i64 t, i64 r0, i64 r1, i64 r2, i64 r3)
{
  i64 weights[3];
  FixedSplineWeights(2, t, weights);
  return MultiplyFixed(weights[0], r0 - r1) + MultiplyFixed(weights[1], r1 - r2) + MultiplyFixed(weights[2], r2 - r3);
}

/** Pass 2: computes the force of the sample at a position, from its fixed bin's row of FixedPointTableEntry. Returns 0 if the sample is not
 *  valid. */
GPUREG_FUNCTION int
ComputeFixedPointForce(int                      variant,
                       const MattesArguments *  a,
                       const SampleMaps *       maps,
                       const SampleVolumes *    v,
                       i64                      sample,
                       const i64 *              position,
                       GPUREG_LOCAL const i64 * tableRow,
                       float *                  force)
{
  (void)sample;
  i64   value, t;
  float gradient[3];
  if (!ComputeFixedPointMattesValue(variant, a, maps, v, position, &value))
  {
    return 0;
  }
  SampleFixedPointGradient(variant, &a->histogram.samples, maps, v, position, gradient);
  GPUREG_LOCAL const i64 * window = tableRow + FirstFixedPointParzenBin(a, maps, value, &t);
  const float weight = (float)FixedPointParzenForce(t, window[0], window[1], window[2], window[3]) * GPUREG_FIXED_UNIT;
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  return 1;
}

GPUREG_NAMESPACE_END

#endif
