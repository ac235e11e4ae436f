// SPDX-License-Identifier: Apache-2.0
// One sample of the Mattes joint histogram: the bins to which it adds, and its force, by the formulas of
// itk::MattesMutualInformationImageToImageMetricv4. Moving values are in bin units above the minimum, (v - min)/binSize in [0, bins - 4].
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MattesSample_h
#define gpureg_kernels_MattesSample_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Empty bins at each end, so that the cubic window never leaves the histogram. */
  HistogramPadding = 2,
  /** The most samples in a chunk: so many of weight 2/3, the largest weight, fit into 32 bits in units of 2^-18. */
  MaximumSamplesPerChunk = 16384
};

/** Arguments of an evaluation besides the volumes and SampleMaps. 32-bit members only. */
typedef struct MattesArguments
{
  HistogramArguments histogram;
  float              rangeEnd; /* bins - 4, the largest value */
  float acceptBegin; /* 0, less half of the pixel type's last digit: the least value that rounds into the range */
  float acceptEnd;   /* rangeEnd, plus half of the pixel type's last digit */
  float lastWhole;   /* bins - 5: the largest integer part of a value */
  int   normalized;  /* 1: Studholme's normalized MI; 0: Mattes' MI */
} MattesArguments;

/** Clamps a value to the histogram's range [0, bins - 4]. Returns 0 if the sample is not valid.
 *  Linear interpolation leaves the range only by rounding. With a mask, which narrows the range, or a spline, which overshoots, ITK
 *  rejects values that are outside after rounding to the pixel type. */
GPUREG_FUNCTION int
FitIntoRange(int variant, const MattesArguments * a, float * u)
{
  const float value = *u;
  *u = SmallerOf(LargerOf(value, 0.0f), a->rangeEnd);
  return !VariantHas(variant, ChecksRange) || (value >= a->acceptBegin && value <= a->acceptEnd);
}

/** Computes the moving value at a position. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeMattesValue(int                     variant,
                   const MattesArguments * a,
                   const SampleMaps *      maps,
                   const SampleVolumes *   v,
                   const i64 *             position,
                   float *                 u)
{
  return SampleMovingValue(variant, &a->histogram.samples, maps, v, position, u) && FitIntoRange(variant, a, u);
}

/** Returns the first of the four moving bins of the Parzen window. t: the place of the value between the second and the third bin
 *  (Mattes 2003, equation 6). A value at the maximum has t = 1. */
GPUREG_FUNCTION int
FirstParzenBin(float lastWhole, float u, float * t)
{
  int         whole;
  const float below = WholeBelow(u, lastWhole, &whole);
  *t = u - below;
  return whole + HistogramPadding - 1;
}

/** Computes the window's weights in units of 1/countUnit. They sum to countUnit exactly: the second weight, never less than 1/6, takes
 *  what rounding leaves. */
GPUREG_FUNCTION void
FixedPointParzenWeights(float t, float countUnit, u32 * weights)
{
  float w[4];
  CubicBSplineWeights(t, w);
  weights[0] = ToCount(w[0], countUnit);
  weights[2] = ToCount(w[2], countUnit);
  weights[3] = ToCount(w[3], countUnit);
  weights[1] = (u32)countUnit - weights[0] - weights[2] - weights[3];
}

/** Pass 1: finds the first bin of the Parzen window of the sample at a position, and its weights. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeWindow(int                     variant,
              const MattesArguments * a,
              const SampleMaps *      maps,
              const SampleVolumes *   v,
              const i64 *             position,
              int *                   first,
              u32 *                   weights)
{
  float t, u = 0.0f;
  if (!ComputeMattesValue(variant, a, maps, v, position, &u))
  {
    return 0;
  }
  *first = FirstParzenBin(a->lastWhole, u, &t);
  FixedPointParzenWeights(t, a->histogram.countUnit, weights);
  return 1;
}

/** Returns the count in an entry of a chunk's histogram, in the histogram's unit. */
GPUREG_FUNCTION u64
ReadChunk(int variant, const MattesArguments * a, GPUREG_GLOBAL const u32 * chunkHistograms, int chunk, int entry)
{
  return CountInChunk(variant, chunkHistograms, chunk, a->histogram.rows * a->histogram.columns, entry);
}

/** Returns the scalar that turns a sample's gradient into its force: the sum over k of B3'(arg_k)·r_k, where r0 … r3 are the entries of
 *  the fixed bin's row of the table from the first Parzen bin on. */
GPUREG_FUNCTION float
ParzenForce(float t, float r0, float r1, float r2, float r3)
{
  float d[4];
  CubicBSplineDerivatives(t, d);
  return d[0] * r0 + d[1] * r1 + d[2] * r2 + d[3] * r3;
}

/** Pass 2: computes the force of the sample at a position, from its fixed bin's row of the table. Returns 0 if the sample is not valid. */
GPUREG_FUNCTION int
ComputeForce(int                        variant,
             const MattesArguments *    a,
             const SampleMaps *         maps,
             const SampleVolumes *      v,
             i64                        sample,
             const i64 *                position,
             GPUREG_LOCAL const float * tableRow,
             float *                    force)
{
  (void)sample;
  float gradient[3], t, u = 0.0f;
  if (!SampleMovingValueAndGradient(variant, &a->histogram.samples, maps, v, position, &u, gradient) ||
      !FitIntoRange(variant, a, &u))
  {
    return 0;
  }
  GPUREG_LOCAL const float * window = tableRow + FirstParzenBin(a->lastWhole, u, &t);
  const float                weight = ParzenForce(t, window[0], window[1], window[2], window[3]);
  for (int r = 0; r < 3; ++r)
  {
    force[r] = weight * gradient[r];
  }
  return 1;
}

GPUREG_NAMESPACE_END

#endif
