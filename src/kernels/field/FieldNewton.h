// SPDX-License-Identifier: Apache-2.0
// The inverse w of a field u by Newton's method: each voxel by itself looks for the root of e(w) = w + u(x + w), whose derivative
// I + ∂u/∂x the linear interpolation of u has at hand. One launch takes as many steps as a voxel needs, so it moves 36 bytes a voxel in
// all, where FieldInversion.h moves 60 in each iteration; and it converges quadratically, to the rounding of the fields' numbers.
// A step that does not make the error smaller is halved. Where u folds, w becomes the vector with the smallest error of all steps.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldNewton_h
#define gpureg_kernels_FieldNewton_h

GPUREG_NAMESPACE_BEGIN

/** 32-bit members only. */
typedef struct NewtonRule
{
  int   readings;  /* of u at a voxel, at most: steps, and attempts at them */
  float error;     /* voxels: small enough */
  int   hasBorder; /* the border of w is set to 0 */
  int   continues; /* u's edge continues outside of the grid, where it is 0 otherwise */
} NewtonRule;

/** The smallest determinant to divide by. Below this determinant the step is e itself, as if u were constant. */
#define GPUREG_LEAST_NEWTON_DETERMINANT 0.01f

/** Returns the length of a vector, mm, in voxels along the grid's own axes. */
GPUREG_REAL_FUNCTION float
MeasureAlongAxes(const FieldGrid * grid, const real * vector)
{
  real squares = 0.0f;
  for (int r = 0; r < 3; ++r)
  {
    const real along = ToVoxels(grid, r, vector);
    squares = MultiplyAdd(along, along, squares);
  }
  return SqrtOf((float)squares);
}

/** Computes e at a voxel and its derivative I + ∂u/∂x. Returns the length of e in voxels along the grid's own axes. continues: see
 *  NewtonRule. */
GPUREG_REAL_FUNCTION float
ComputeInverseErrorAndJacobian(const FieldGrid *          grid,
                               int                        continues,
                               const int *                index,
                               GPUREG_GLOBAL const real * field,
                               const real *               inverse,
                               real *                     error,
                               real *                     jacobian)
{
  int  cell[3], isInside;
  real fraction[3], slopes[9];
  real moved[3] = { 0.0f, 0.0f, 0.0f };
  for (int k = 0; k < 9; ++k)
  {
    jacobian[k] = 0.0f;
  }
  isInside = MoveFromVoxel(grid, index, inverse, cell, fraction);
  if (continues)
  {
    MoveToEdge(grid, cell, fraction);
  }
  if (isInside || continues)
  {
    InterpolateFieldAndSlopes(grid, field, cell, fraction, moved, slopes);
    ComputeFieldGradient(grid, slopes, jacobian);
  }
  for (int r = 0; r < 3; ++r)
  {
    error[r] = inverse[r] + moved[r];
    jacobian[4 * r] += 1.0f;
  }
  return MeasureAlongAxes(grid, error);
}

/** Computes Newton's step, which would make e 0 if its derivative were constant. */
GPUREG_REAL_FUNCTION void
ComputeNewtonStep(const real * jacobian, const real * error, real * step)
{
  real cofactors[9];
  for (int k = 0; k < 9; ++k)
  {
    cofactors[k] = ComputeCofactor(jacobian, k / 3, k % 3);
  }
  const real determinant =
    MultiplyAdd(jacobian[0], cofactors[0], MultiplyAdd(jacobian[1], cofactors[1], jacobian[2] * cofactors[2]));
  const int isRegular = determinant > GPUREG_LEAST_NEWTON_DETERMINANT;
  for (int r = 0; r < 3; ++r)
  {
    const real sum =
      MultiplyAdd(cofactors[r], error[0], MultiplyAdd(cofactors[3 + r], error[1], cofactors[6 + r] * error[2]));
    step[r] = isRegular ? -sum / determinant : -error[r];
  }
}

/** Improves the inverse at a voxel. Returns the length of the error that is left, in voxels. */
GPUREG_REAL_FUNCTION float
ImproveByNewton(
  const FieldGrid * grid, const NewtonRule * rule, GPUREG_GLOBAL const real * field, const int * index, real * best)
{
  real  error[3], jacobian[9], step[3];
  real  length = 1.0f;
  float least = ComputeInverseErrorAndJacobian(grid, rule->continues, index, field, best, error, jacobian);
  ComputeNewtonStep(jacobian, error, step);
  for (int n = 1; n < rule->readings && least > rule->error; ++n)
  {
    real tried[3];
    for (int r = 0; r < 3; ++r)
    {
      tried[r] = MultiplyAdd(length, step[r], best[r]);
    }
    const float found = ComputeInverseErrorAndJacobian(grid, rule->continues, index, field, tried, error, jacobian);
    if (found < least)
    {
      least = found;
      length = 1.0f;
      ComputeNewtonStep(jacobian, error, step);
      for (int r = 0; r < 3; ++r)
      {
        best[r] = tried[r];
      }
    }
    else
    {
      length *= 0.5f;
    }
  }
  return least;
}

/** Improves the inverse at a voxel, in place, and writes the length of the error that is left, in voxels. */
GPUREG_REAL_FUNCTION void
InvertByNewton(const FieldGrid *          grid,
               const NewtonRule *         rule,
               GPUREG_GLOBAL const real * field,
               GPUREG_GLOBAL real *       inverse,
               GPUREG_GLOBAL float *      errors,
               i64                        item)
{
  int  index[3];
  real best[3] = { inverse[3 * item], inverse[3 * item + 1], inverse[3 * item + 2] };
  ComputeVoxelIndex(grid, item, index);
  if (rule->hasBorder && IsOnFieldBorder(grid, index))
  {
    best[0] = best[1] = best[2] = 0.0f;
    errors[item] = 0.0f;
  }
  else
  {
    errors[item] = ImproveByNewton(grid, rule, field, index, best);
  }
  for (int r = 0; r < 3; ++r)
  {
    inverse[3 * item + r] = best[r];
  }
}

GPUREG_REAL_ITEM_KERNEL(InvertByNewton, 1 << 10, "inverting a field");

/** Inverts again where the error is above the rule's, from the inverse at each of 26 neighbours where it is not, until one leads to a small
 *  error: from the 6 across faces alone ten times as many voxels keep a large one (docs/notebook/displacement-fields.md). inverse is
 *  changed in place: only a voxel with a large error gets another vector, and only neighbours with small ones are read. errors has the
 *  errors before from element before on, and gets those that are left from element behind on. Moves 8 bytes a voxel. */
GPUREG_REAL_FUNCTION void
InvertFromNeighbours(const FieldGrid *          grid,
                     const NewtonRule *         rule,
                     i64                        before,
                     i64                        behind,
                     GPUREG_GLOBAL const real * field,
                     GPUREG_GLOBAL real *       inverse,
                     GPUREG_GLOBAL float *      errors,
                     i64                        item)
{
  float least = errors[before + item];
  if (least > rule->error)
  {
    int  index[3];
    real best[3] = { inverse[3 * item], inverse[3 * item + 1], inverse[3 * item + 2] };
    ComputeVoxelIndex(grid, item, index);
    for (int n = 0; n < 27 && least > rule->error; ++n)
    {
      const int offset[3] = { n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1 };
      i64       neighbour = item;
      i64       stride = 1;
      int       isInside = 1;
      for (int d = 0; d < 3; ++d)
      {
        const int place = index[d] + offset[d];
        isInside &= place >= 0 && place < grid->size[d];
        neighbour += offset[d] * stride;
        stride *= grid->size[d];
      }
      /* The voxel itself has a large error. */
      if (isInside && errors[before + neighbour] <= rule->error)
      {
        real        tried[3] = { inverse[3 * neighbour], inverse[3 * neighbour + 1], inverse[3 * neighbour + 2] };
        const float left = ImproveByNewton(grid, rule, field, index, tried);
        if (left < least)
        {
          least = left;
          for (int r = 0; r < 3; ++r)
          {
            best[r] = tried[r];
          }
        }
      }
    }
    for (int r = 0; r < 3; ++r)
    {
      inverse[3 * item + r] = best[r];
    }
  }
  errors[behind + item] = least;
}

GPUREG_REAL_ITEM_KERNEL(InvertFromNeighbours, 1 << 12, "inverting a field");

/** Numbers that describe how good an inverse is: arrays of one float a voxel, behind each other. */
enum
{
  InverseError = 0,    /* voxels; 0 where nothing is mapped to */
  InverseIsOff = 1,    /* 1 where the error is above the tolerance, otherwise 0 */
  InverseUnmapped = 2, /* 1 where the error is not small and the inverse leads to the grid's edge, otherwise 0 */
  InverseNumbers = 3
};

/** Says whether the best inverse at a voxel leads to the grid's outer cells, or beyond: if its error is not small there, then what is
 *  mapped to the voxel, if anything is, lies outside. An axis of up to three voxels has no other cells, and does not count. */
GPUREG_REAL_FUNCTION int
LeadsToEdge(const FieldGrid * grid, const int * index, const real * inverse)
{
  int  cell[3];
  real fraction[3];
  int  isAtEdge = !MoveFromVoxel(grid, index, inverse, cell, fraction);
  for (int d = 0; d < 3; ++d)
  {
    isAtEdge |= grid->size[d] > 3 && (cell[d] < 1 || cell[d] >= grid->size[d] - 2);
  }
  return isAtEdge;
}

/** Writes the numbers of InverseNumbers for item, one of so many voxels. index, inverse: the voxel's index and its vector; length: of the
 *  error, in voxels. smallError: voxels; an inverse that is no better has not converged. tolerance: voxels. */
GPUREG_REAL_FUNCTION void
JudgeInverse(const FieldGrid *     grid,
             float                 smallError,
             float                 tolerance,
             i64                   voxels,
             const int *           index,
             const real *          inverse,
             float                 length,
             GPUREG_GLOBAL float * numbers,
             i64                   item)
{
  /* Written so that NaN counts as a large error. */
  const int isUnmapped = !(length <= smallError) && LeadsToEdge(grid, index, inverse);
  numbers[InverseError * voxels + item] = isUnmapped ? 0.0f : length;
  numbers[InverseIsOff * voxels + item] = isUnmapped || length <= tolerance ? 0.0f : 1.0f;
  numbers[InverseUnmapped * voxels + item] = isUnmapped ? 1.0f : 0.0f;
}

/** Writes the numbers of InverseNumbers for one of so many voxels that begin at the first one: how well an inverse undoes a field, which
 *  counts as 0 outside of the grid. smallError, tolerance: see JudgeInverse(). Moves 36 bytes a voxel. */
GPUREG_REAL_FUNCTION void
DescribeInverse(const FieldGrid *          grid,
                float                      smallError,
                float                      tolerance,
                i64                        first,
                i64                        voxels,
                GPUREG_GLOBAL const real * field,
                GPUREG_GLOBAL const real * inverse,
                GPUREG_GLOBAL float *      numbers,
                i64                        item)
{
  int                        index[3];
  real                       error[3], jacobian[9];
  GPUREG_GLOBAL const real * from = inverse + 3 * (first + item);
  const real                 vector[3] = { from[0], from[1], from[2] };
  ComputeVoxelIndex(grid, first + item, index);
  const float length = ComputeInverseErrorAndJacobian(grid, 0, index, field, vector, error, jacobian);
  JudgeInverse(grid, smallError, tolerance, voxels, index, vector, length, numbers, item);
}

GPUREG_REAL_ITEM_KERNEL(DescribeInverse, 1 << 12, "measuring an inverse");

GPUREG_NAMESPACE_END

#endif
