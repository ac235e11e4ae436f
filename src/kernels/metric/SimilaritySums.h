// SPDX-License-Identifier: Apache-2.0
// Computes a similarity's value, and the factor of its forces, from the sums of all chunks of samples (or groups of centres), on the device
// where the sums lie, so that an optimizer that moves samples along the forces need not wait for the host.
//   a mean                      S/N, factor 1/N
//   correlation (ValuePairs.h)  (Σ f₁m₁)²/(Σ f₁²·Σ m₁²), factor 2 Σ f₁m₁/(Σ f₁²·Σ m₁²), with f₁ = f - f̄ and m₁ = m - m̄;
//                               N Σ f₁m₁ = N Σ fm - Σ f Σ m, and Σ f₁², Σ m₁² likewise, from sums of some 48 bits
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_SimilaritySums_h
#define gpureg_kernels_SimilaritySums_h

GPUREG_NAMESPACE_BEGIN

/** Describes the sums of all chunks, and the similarity to compute from them. 32-bit members only. */
typedef struct SimilaritySums
{
  int   isCorrelation;
  int   chunks;
  int   stride;     /* floats from a chunk to the next */
  int   count;      /* number of sums of a chunk: 2 (N and S), or MostPairSums */
  int   haveRests;  /* what rounding leaves of the sums follows them */
  float fixedUnit;  /* for a correlation: scaled values per unit of the sums */
  float movingUnit; /* likewise; for a mean: the factor of S */
} SimilaritySums;

/** Adds the sums of a chunk to sums[0 … count - 1], and what rounding leaves of them to the next `count` floats. */
GPUREG_FUNCTION void
AddSumsOfChunk(const SimilaritySums * a, GPUREG_GLOBAL const float * partials, int chunk, float * sums)
{
  GPUREG_GLOBAL const float * ofChunk = partials + (i64)chunk * a->stride;
  for (int s = 0; s < a->count; ++s)
  {
    FloatAndRest sum;
    sum.value = ofChunk[s];
    sum.rest = a->haveRests ? ofChunk[a->count + s] : 0.0f;
    AddWithRest(sum, sums + s, sums + a->count + s);
  }
}

GPUREG_FUNCTION FloatAndRest
SumAt(const SimilaritySums * a, const float * sums, int s)
{
  FloatAndRest sum;
  sum.value = sums[s];
  sum.rest = sums[a->count + s];
  return sum;
}

/** Returns a·b - c·d. */
GPUREG_FUNCTION float
SubtractProducts(FloatAndRest a, FloatAndRest b, FloatAndRest c, FloatAndRest d)
{
  FloatAndRest       difference = MultiplyExactly(a, b);
  const FloatAndRest other = MultiplyExactly(c, d);
  FloatAndRest       negative;
  negative.value = -other.value;
  negative.rest = -other.rest;
  AddWithRest(negative, &difference.value, &difference.rest);
  return difference.value + difference.rest;
}

/** Computes the numbers of a correlation. For values that do not vary, but for rounding, the correlation is 0. */
GPUREG_FUNCTION void
ComputeCorrelation(const SimilaritySums * a, const float * sums, GPUREG_GLOBAL float * evaluated)
{
  const FloatAndRest n = SumAt(a, sums, CountSum);
  const FloatAndRest f = SumAt(a, sums, FixedSum);
  const FloatAndRest m = SumAt(a, sums, MovingSum);
  const float        ff = SubtractProducts(n, SumAt(a, sums, FixedSquareSum), f, f);
  const float        mm = SubtractProducts(n, SumAt(a, sums, MovingSquareSum), m, m);
  const float        fm = SubtractProducts(n, SumAt(a, sums, ProductSum), f, m);
  const float        least = (a->haveRests ? GPUREG_LEAST_OF_FIXED_POINT_SQUARES : GPUREG_LEAST_OF_SQUARES) * n.value;
  const int          varies = ff > least * sums[FixedSquareSum] && mm > least * sums[MovingSquareSum];
  /* Divide first: the products of large sums would overflow. */
  evaluated[EvaluatedValue] = varies ? (fm / ff) * (fm / mm) : 0.0f;
  evaluated[EvaluatedFactor] = varies ? 2.0f * (fm / ff) * (n.value / mm) / (a->fixedUnit * a->movingUnit) : 0.0f;
  evaluated[EvaluatedFixedMean] = f.value / n.value * a->fixedUnit;
  evaluated[EvaluatedMovingMean] = m.value / n.value * a->movingUnit;
  evaluated[EvaluatedSlope] = varies ? fm / mm * (a->fixedUnit / a->movingUnit) : 0.0f;
}

/** Computes the numbers of a similarity from the sums over all chunks. */
GPUREG_FUNCTION void
FindSimilarity(const SimilaritySums * a, const float * sums, GPUREG_GLOBAL float * evaluated)
{
  const float count = sums[0] + sums[a->count];
  for (int e = 0; e < EvaluatedNumbers; ++e)
  {
    evaluated[e] = 0.0f;
  }
  if (!(count > 0.0f))
  {
    evaluated[EvaluatedValue] = GPUREG_NO_EVALUATED_VALUE;
  }
  else if (a->isCorrelation)
  {
    ComputeCorrelation(a, sums, evaluated);
  }
  else
  {
    evaluated[EvaluatedFactor] = 1.0f / count;
    evaluated[EvaluatedValue] = (sums[1] + sums[a->count + 1]) / count * a->movingUnit;
  }
}

GPUREG_NAMESPACE_END

#endif
