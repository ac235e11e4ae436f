// SPDX-License-Identifier: Apache-2.0
// Updates of control points between two evaluations: a step along the gradient, and the same deformation on a grid with half the spacing.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ControlSteps_h
#define gpureg_kernels_ControlSteps_h

GPUREG_NAMESPACE_BEGIN

/** Describes a step of control points by Adam, in mm. 32-bit members only. */
typedef struct ControlStep
{
  AdamStep adam;
  float
    similarity; /* the factor, besides EvaluatedFactor, from forces to the gradient of the similarity's part of the cost */
  int hasPenalty;
} ControlStep;

/** Returns the gradient of the cost at a control point. evaluated: see Evaluated.h; similarity: see ControlStep; controlForces: the control
 *  point's forces; penalty: the gradient of the rest of the cost, or null if there is none. */
GPUREG_FUNCTION float4
ComputeCostGradient(float                        similarity,
                    i64                          point,
                    GPUREG_GLOBAL const float *  evaluated,
                    GPUREG_GLOBAL const float4 * controlForces,
                    int                          hasPenalty,
                    GPUREG_GLOBAL const float4 * penalty)
{
  const float factor = similarity * evaluated[EvaluatedFactor];
  return MultiplyAdd4(factor, controlForces[point], hasPenalty ? penalty[point] : ZeroFloat4());
}

/** Writes the gradient of the cost at a control point; see ComputeCostGradient. gradient may be controlForces. */
GPUREG_FUNCTION void
WriteCostGradient(float                        similarity,
                  GPUREG_GLOBAL const float *  evaluated,
                  GPUREG_GLOBAL const float4 * controlForces,
                  int                          hasPenalty,
                  GPUREG_GLOBAL const float4 * penalty,
                  GPUREG_GLOBAL float4 *       gradient,
                  i64                          point)
{
  gradient[point] = ComputeCostGradient(similarity, point, evaluated, controlForces, hasPenalty, penalty);
}

GPUREG_ITEM_KERNEL(WriteCostGradient, 4096, "computing a gradient");

/** Copies the value of an evaluation. number: 0. */
GPUREG_FUNCTION void
CopyValue(GPUREG_GLOBAL const float * evaluated, GPUREG_GLOBAL float * value, i64 number)
{
  value[number] = evaluated[EvaluatedValue];
}

GPUREG_ITEM_KERNEL(CopyValue, 1, "copying a value");

/** Describes the share that one of several pairs has in a cost, as a function of the similarity's value: a multiple of the logarithm of
 *  rest + scale·value, or of the value. 32-bit members only. */
typedef struct PairInformation
{
  float multiple;
  float scale;
  float rest;
  int   hasLogarithm;
} PairInformation;

/** Writes an evaluation's numbers with the factor of a pair's share: the derivative of the share by the cost times the evaluated factor.
 *  number: 0. */
GPUREG_FUNCTION void
InformEvaluated(const PairInformation *     a,
                GPUREG_GLOBAL const float * evaluated,
                GPUREG_GLOBAL float *       informed,
                i64                         number)
{
  const float value = evaluated[number + EvaluatedValue];
  const float slope = a->hasLogarithm ? a->multiple / MultiplyAdd(a->scale, value, a->rest) : a->multiple;
  informed[number + EvaluatedFactor] = slope * evaluated[number + EvaluatedFactor];
  informed[number + EvaluatedValue] = value;
}

GPUREG_ITEM_KERNEL(InformEvaluated, 1, "weighing a pair");

/** Sets a vector to 0. */
GPUREG_FUNCTION void
ClearVector(GPUREG_GLOBAL float4 * vectors, i64 number)
{
  vectors[number] = ZeroFloat4();
}

GPUREG_ITEM_KERNEL(ClearVector, 4096, "clearing vectors");

/** Moves a control point; the first one also copies the evaluation's value. evaluated, controlForces, penalty: see ComputeCostGradient;
 *  firstMeans, secondMeans: the running means of the gradient and of its square, initially 0. */
GPUREG_FUNCTION void
MoveByAdam(const ControlStep *          a,
           GPUREG_GLOBAL const float *  evaluated,
           GPUREG_GLOBAL float *        value,
           GPUREG_GLOBAL const float4 * controlForces,
           GPUREG_GLOBAL const float4 * penalty,
           GPUREG_GLOBAL float4 *       firstMeans,
           GPUREG_GLOBAL float4 *       secondMeans,
           GPUREG_GLOBAL float4 *       points,
           i64                          point)
{
  if (point == 0)
  {
    CopyValue(evaluated, value, 0);
  }
  const float4 g = ComputeCostGradient(a->similarity, point, evaluated, controlForces, a->hasPenalty, penalty);
  const float4 before = points[point];
  const float  gradient[3] = { g.x, g.y, g.z };
  float        first[3] = { firstMeans[point].x, firstMeans[point].y, firstMeans[point].z };
  float        second[3] = { secondMeans[point].x, secondMeans[point].y, secondMeans[point].z };
  float        step[3];
  for (int r = 0; r < 3; ++r)
  {
    step[r] = ComputeAdamStep(&a->adam, gradient[r], first + r, second + r);
  }
  firstMeans[point] = MakeFloat4(first[0], first[1], first[2], 0.0f);
  secondMeans[point] = MakeFloat4(second[0], second[1], second[2], 0.0f);
  points[point] = MakeFloat4(before.x + step[0], before.y + step[1], before.z + step[2], 0.0f);
}

GPUREG_ITEM_KERNEL(MoveByAdam, 4096, "moving control points");

/** Places of the numbers of a line along which control points are moved. */
enum
{
  /** The weight of the previous direction in the next one (Polak & Ribière 1969), clamped to 0 or more. */
  LineConjugation = 0,
  /** The length of the longest vector of the direction. */
  LineLongest = 1,
  /** The inner product of the gradient with the last one. */
  LineProduct = 2,
  LineNumbers = 3
};

/** Computes the next direction at a control point: against the gradient, plus LineConjugation times the previous direction. */
GPUREG_FUNCTION void
TurnDirection(GPUREG_GLOBAL const float *  numbers,
              GPUREG_GLOBAL const float4 * gradient,
              GPUREG_GLOBAL float4 *       lastGradient,
              GPUREG_GLOBAL float4 *       direction,
              i64                          point)
{
  const float4 g = gradient[point];
  const float4 against = MakeFloat4(-g.x, -g.y, -g.z, 0.0f);
  direction[point] = MultiplyAdd4(numbers[LineConjugation], direction[point], against);
  lastGradient[point] = g;
}

GPUREG_ITEM_KERNEL(TurnDirection, 4096, "turning a direction");

/** Moves a control point from its start along the line, so that the longest vector of all control points' moves has this length. points may
 *  be begin. */
GPUREG_FUNCTION void
PlaceOnLine(float                        length,
            GPUREG_GLOBAL const float *  numbers,
            GPUREG_GLOBAL const float4 * begin,
            GPUREG_GLOBAL const float4 * direction,
            GPUREG_GLOBAL float4 *       points,
            i64                          point)
{
  const float longest = numbers[LineLongest];
  points[point] = MultiplyAdd4(longest > 0.0f ? length / longest : 0.0f, direction[point], begin[point]);
}

GPUREG_ITEM_KERNEL(PlaceOnLine, 4096, "placing control points on a line");

/** Two grids, of which the finer one has half the spacing. Each grid's first control point lies one spacing of its own before the same
 *  point. 32-bit members only. */
typedef struct Refinement
{
  int coarse[3];
  int fine[3];
  int dimension;
} Refinement;

/** Computes the coarse control points along an axis from which a fine one is made, and their weights: the cubic B-spline's two-scale
 *  relation. Returns their number. */
GPUREG_FUNCTION int
ComputeRefinedWeights(int j, int * first, float * weights)
{
  if (j & 1)
  {
    *first = (j - 1) / 2;
    weights[0] = 0.125f;
    weights[1] = 0.75f;
    weights[2] = 0.125f;
    return 3;
  }
  *first = j / 2;
  weights[0] = 0.5f;
  weights[1] = 0.5f;
  return 2;
}

/** Computes a control point of the fine grid, such that the splines of both grids are equal (Modat 2010, section 2.1.1). */
GPUREG_FUNCTION void
RefineControlPoint(const Refinement * a, GPUREG_GLOBAL const float4 * coarse, GPUREG_GLOBAL float4 * fine, i64 point)
{
  const i64 row = point / a->fine[0];
  const int place[3] = { (int)(point - row * a->fine[0]), (int)(row % a->fine[1]), (int)(row / a->fine[1]) };
  int       first[3] = { 0, 0, 0 };
  int       taps[3] = { 1, 1, 1 };
  float     weights[3][3] = { { 1.0f }, { 1.0f }, { 1.0f } };
  for (int axis = 0; axis < a->dimension; ++axis)
  {
    taps[axis] = ComputeRefinedWeights(place[axis], first + axis, weights[axis]);
  }
  float4 sum = ZeroFloat4();
  for (int c = 0; c < taps[2]; ++c)
  {
    for (int b = 0; b < taps[1]; ++b)
    {
      GPUREG_GLOBAL const float4 * line =
        coarse + ((i64)(first[2] + c) * a->coarse[1] + first[1] + b) * a->coarse[0] + first[0];
      for (int i = 0; i < taps[0]; ++i)
      {
        sum = MultiplyAdd4(weights[2][c] * weights[1][b] * weights[0][i], line[i], sum);
      }
    }
  }
  fine[point] = sum;
}

GPUREG_ITEM_KERNEL(RefineControlPoint, 4096, "refining control points");

GPUREG_NAMESPACE_END

#endif
