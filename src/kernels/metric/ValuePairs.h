// SPDX-License-Identifier: Apache-2.0
// Metrics that are sums over pairs of a sample's fixed value f and moving value m. N samples are valid.
//   mean squares                Σ (f - m)²/N                    weight f - m
//   mean absolute differences   Σ |f - m|/N                     weight sign(f - m)
//   demons                      Σ (f - m)²/N                    weight (f - m)/((f - m)²/K + |∇|²)   (Thirion 1998)
//   correlation                 from Σ f, Σ m, Σ f², Σ m², Σ fm, weights 1, f and m
// A force is weight · gradient. The weight of a correlation, (f - f̄) - (Σ f₁m₁/Σ m₁²)(m - m̄) with f₁ = f - f̄ and m₁ = m - m̄, is known
// only when all samples have been read; but it is linear in f and m, so three sums of forces, of weights 1, f and m, give the derivative in
// one pass. Values are taken relative to the images' means. Where the samples' own means differ from these by much more than the samples
// vary, floats lose the differences of the values; then a second pass takes values relative to the samples' own means
// (src/engine/metric/pairs/PairEvaluation.cpp).
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ValuePairs_h
#define gpureg_kernels_ValuePairs_h

GPUREG_NAMESPACE_BEGIN

/** The measure, or-ed with the bits of what to compute besides. A kernel that is compiled for one task leaves out the code of the
 *  others. */
enum
{
  PairsMeanSquares = 0,
  PairsMeanAbsoluteDifferences = 1,
  PairsDemons = 2,
  PairsCorrelation = 3,
  PairsMeasureBits = 3,
  PairsComputeForces = 4,
  /** For a correlation whose means and slope are known: forces have one weight, the correlation's own. */
  PairsCentred = 8
};

/** Places of the sums over pairs, see ComputeSummands. */
enum
{
  CountSum = 0,
  DifferenceSum = 1,
  FixedSum = 1,
  MovingSum = 2,
  FixedSquareSum = 3,
  MovingSquareSum = 4,
  ProductSum = 5,
  MostPairSums = 6,
  MostPairWeights = 3
};

/** Smallest ratio of a sum of squares about the mean to the plain sum of squares. A smaller one may be rounding alone, and counts as 0, as
 *  ITK computes for values that do not vary. One is for sums of some 48 bits, and one for floats, in which each chunk is rounded to 6e-8
 *  more than once. */
#define GPUREG_LEAST_OF_FIXED_POINT_SQUARES 1e-13f
#define GPUREG_LEAST_OF_SQUARES 1e-6f

/** A fixed value of at most this marks a sample that is not valid. Valid values are scaled to an order of 1. */
#define GPUREG_NO_FIXED_VALUE -1e29f

/** Arguments of an evaluation besides the volumes and SampleMaps. 32-bit members only. */
typedef struct PairArguments
{
  SampleArguments samples;
  int             task; /* a measure, or-ed with the bits above */
  /* For demons, of scaled values: 1/K in 1/mm², and the difference and the denominator below which there is no force. */
  float inverseNormalizer;
  float leastDifference;
  float leastDenominator;
  /* For a correlation: the values that fixed and moving values are taken relative to, in single precision. Sums about their own means
     lose the fewest digits. */
  float fixedCentre;
  float movingCentre;
} PairArguments;

/** Holds what the weights of a centred correlation depend on, of scaled values: the means, and the slope Σ f₁m₁/Σ m₁². */
typedef struct PairCentring
{
  float fixedMean;
  float movingMean;
  float slope;
} PairCentring;

/** The scaled values of a sample. */
typedef struct ValuePair
{
  float fixed;
  float moving;
  float difference;        /* fixed - moving, if both are in one unit */
  i64   fixedInFixedPoint; /* in fixed-point variants: in the integers' unit */
  i64   movingInFixedPoint;
} ValuePair;

/** In fixed-point variants, the sums are of integers in units of 2^46: the conversion loses nothing, and no float overflows. */
#define GPUREG_BITS_OF_MOMENTS 46
#define GPUREG_UNIT_OF_SUMMANDS 1.4210854715202004e-14f

GPUREG_FUNCTION int
MeasureOfTask(int task)
{
  return task & PairsMeasureBits;
}

GPUREG_FUNCTION int
TaskFindsForces(int task)
{
  return (task & PairsComputeForces) != 0;
}

GPUREG_FUNCTION int
TaskIsCentred(int task)
{
  return (task & PairsCentred) != 0;
}

GPUREG_FUNCTION int
PairSumCount(int task)
{
  return MeasureOfTask(task) == PairsCorrelation ? MostPairSums : DifferenceSum + 1;
}

/** Returns the number of force sums that a task computes, one for each weight. */
GPUREG_FUNCTION int
PairForceSums(int variant, int task)
{
  const int count = MeasureOfTask(task) == PairsCorrelation ? MostPairWeights : 1;
  return TaskFindsForces(task) && !VariantHas(variant, WritesForces) ? count : 0;
}

/** Returns the number of floats of a sum: in fixed-point variants a second one holds what rounding leaves. */
GPUREG_FUNCTION int
FloatsOfSum(int variant)
{
  return VariantHas(variant, SamplesAreFixedPoint) ? 2 : 1;
}

/** Returns the number of floats of a chunk's sums: the sums over pairs, what rounding leaves of them, and PartialCount() for each sum of
 *  forces. */
GPUREG_FUNCTION int
PairPartialCount(int variant, int task)
{
  return FloatsOfSum(variant) * PairSumCount(task) + PairForceSums(variant, task) * PartialCount(variant);
}

/** Returns 1 if the fixed image and its mask have a value for a sample. */
GPUREG_FUNCTION int
HasFixedValue(int variant, const SampleVolumes * v, i64 sample)
{
  return VariantHas(variant, SamplesAreFixedPoint) ? v->fixedValuesInFixedPoint[sample] > -((i64)1 << 60)
                                                   : v->fixedValues[sample] > GPUREG_NO_FIXED_VALUE;
}

/** Computes the pair of values of a sample, and, if the task computes forces, the gradient along which its force points. Returns 0 if
 *  the sample is not valid. */
GPUREG_FUNCTION int
ComputePair(int                   variant,
            const PairArguments * a,
            int                   task,
            const SampleMaps *    maps,
            const SampleVolumes * v,
            i64                   sample,
            const i64 *           position,
            ValuePair *           pair,
            float *               gradient)
{
  const int isAlongMoving = TaskFindsForces(task) && !VariantHas(variant, GradientOfFixed);
  if (VariantHas(variant, SamplesAreFixedPoint))
  {
    const i64 fixed = v->fixedValuesInFixedPoint[sample];
    i64       moving;
    if (!SampleFixedPointValue(variant, &a->samples, maps, v, position, &moving))
    {
      return 0;
    }
    pair->fixedInFixedPoint = fixed;
    pair->movingInFixedPoint = moving;
    pair->fixed = (float)fixed * maps->unitsToFixedValues;
    pair->moving = (float)moving * maps->unitsToValues;
    pair->difference = (float)(fixed - moving) * maps->unitsToValues;
    if (isAlongMoving)
    {
      SampleFixedPointGradient(variant, &a->samples, maps, v, position, gradient);
    }
  }
  else
  {
    pair->fixedInFixedPoint = 0;
    pair->movingInFixedPoint = 0;
    pair->fixed = v->fixedValues[sample] - a->fixedCentre;
    if (!(isAlongMoving ? SampleMovingValueAndGradient(variant, &a->samples, maps, v, position, &pair->moving, gradient)
                        : SampleMovingValue(variant, &a->samples, maps, v, position, &pair->moving)))
    {
      return 0;
    }
    pair->moving -= a->movingCentre;
    pair->difference = pair->fixed - pair->moving;
  }
  if (TaskFindsForces(task) && VariantHas(variant, GradientOfFixed))
  {
    for (int r = 0; r < 3; ++r)
    {
      gradient[r] = v->fixedGradients[3 * sample + r];
    }
  }
  return 1;
}

/** Computes what a pair adds to each sum. */
GPUREG_FUNCTION void
ComputeSummands(int task, const ValuePair * pair, float * summands)
{
  const int   measure = MeasureOfTask(task);
  const float d = pair->difference;
  summands[CountSum] = 1.0f;
  if (measure == PairsCorrelation)
  {
    summands[FixedSum] = pair->fixed;
    summands[MovingSum] = pair->moving;
    summands[FixedSquareSum] = pair->fixed * pair->fixed;
    summands[MovingSquareSum] = pair->moving * pair->moving;
    summands[ProductSum] = pair->fixed * pair->moving;
  }
  else
  {
    summands[DifferenceSum] = measure == PairsMeanAbsoluteDifferences ? LargerOf(d, -d) : d * d;
  }
}

/** Computes what a pair adds to each sum in fixed-point variants. A float's square is known to 6e-8, which shows in a sum of few
 *  samples. */
GPUREG_FUNCTION void
ComputeFixedPointSummands(int task, const ValuePair * pair, FloatAndRest * summands)
{
  const int measure = MeasureOfTask(task);
  summands[CountSum].value = 1.0f;
  summands[CountSum].rest = 0.0f;
  if (measure == PairsCorrelation)
  {
    const FloatAndRest fixed = SplitInteger(pair->fixedInFixedPoint, GPUREG_UNIT_OF_SUMMANDS);
    const FloatAndRest moving = SplitInteger(pair->movingInFixedPoint, GPUREG_UNIT_OF_SUMMANDS);
    summands[FixedSum] = fixed;
    summands[MovingSum] = moving;
    summands[FixedSquareSum] = MultiplyExactly(fixed, fixed);
    summands[MovingSquareSum] = MultiplyExactly(moving, moving);
    summands[ProductSum] = MultiplyExactly(fixed, moving);
  }
  else
  {
    const i64          difference = pair->fixedInFixedPoint - pair->movingInFixedPoint;
    const i64          distance = difference < 0 ? -difference : difference;
    const FloatAndRest d = SplitInteger(distance, GPUREG_UNIT_OF_SUMMANDS);
    summands[DifferenceSum] = measure == PairsMeanAbsoluteDifferences ? d : MultiplyExactly(d, d);
  }
}

/** Returns the weight (f - m)/((f - m)²/K + |∇|²), as itk::DemonsImageToImageMetricv4 computes it. */
GPUREG_FUNCTION float
WeighByDemons(const PairArguments * a, float difference, const float * gradient)
{
  const float squares = gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2];
  const float denominator = MultiplyAdd(difference * difference, a->inverseNormalizer, squares);
  const int   isNothing =
    LargerOf(difference, -difference) < a->leastDifference || denominator < a->leastDenominator || denominator <= 0.0f;
  return isNothing ? 0.0f : difference / denominator;
}

/** Loads the means and the slope that an evaluation of the same samples' values has left, if the task needs them. */
GPUREG_FUNCTION PairCentring
LoadCentring(int task, GPUREG_GLOBAL const float * evaluated)
{
  PairCentring centring = { 0.0f, 0.0f, 0.0f };
  if (TaskIsCentred(task))
  {
    centring.fixedMean = evaluated[EvaluatedFixedMean];
    centring.movingMean = evaluated[EvaluatedMovingMean];
    centring.slope = evaluated[EvaluatedSlope];
  }
  return centring;
}

/** Computes the weights of a pair's forces. */
GPUREG_FUNCTION void
ComputePairWeights(const PairArguments * a,
                   int                   task,
                   const PairCentring *  centring,
                   const ValuePair *     pair,
                   const float *         gradient,
                   float *               weights)
{
  const int   measure = MeasureOfTask(task);
  const float d = pair->difference;
  if (TaskIsCentred(task))
  {
    weights[0] = MultiplyAdd(-centring->slope, pair->moving - centring->movingMean, pair->fixed - centring->fixedMean);
  }
  else if (measure == PairsCorrelation)
  {
    weights[0] = 1.0f;
    weights[1] = pair->fixed;
    weights[2] = pair->moving;
  }
  else if (measure == PairsDemons)
  {
    weights[0] = WeighByDemons(a, d, gradient);
  }
  else if (measure == PairsMeanAbsoluteDifferences)
  {
    weights[0] = (float)((d > 0.0f) - (d < 0.0f));
  }
  else
  {
    weights[0] = d;
  }
}

/** Returns weight k with some 48 bits, for fixed-point variants: with few samples, its rounding to float shows in the derivative.
 *  weight: that of ComputePairWeights, which is exact for all other measures. */
GPUREG_FUNCTION FloatAndRest
ComputeFixedPointWeight(int task, const SampleMaps * maps, const ValuePair * pair, int k, float weight)
{
  const int measure = MeasureOfTask(task);
  if (measure == PairsMeanSquares)
  {
    return SplitInteger(pair->fixedInFixedPoint - pair->movingInFixedPoint, maps->unitsToValues);
  }
  if (measure == PairsCorrelation && k > 0)
  {
    return k == 1 ? SplitInteger(pair->fixedInFixedPoint, maps->unitsToFixedValues)
                  : SplitInteger(pair->movingInFixedPoint, maps->unitsToValues);
  }
  const FloatAndRest exact = { weight, 0.0f };
  return exact;
}

/** Computes force = weight · gradient. */
GPUREG_FUNCTION void
WeighGradientExactly(FloatAndRest weight, const float * gradient, FloatAndRest * force)
{
  for (int r = 0; r < 3; ++r)
  {
    const FloatAndRest along = { gradient[r], 0.0f };
    force[r] = MultiplyExactly(weight, along);
  }
}

GPUREG_NAMESPACE_END

#endif
