// SPDX-License-Identifier: Apache-2.0
// The inverse w of a field u by Newton's method: each voxel by itself looks for the root of e(w) = w + u(x + w), whose derivative
// I + ∂u/∂x the linear interpolation of u has at hand. One launch takes as many steps as a voxel needs, so it moves 36 bytes a voxel in
// all, where FieldInversion.h moves 60 in each iteration; and it converges quadratically, to the rounding of the fields' numbers.
// A step that does not make the error smaller is halved. Where u folds, w stays the best that was met.
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
} NewtonRule;

/** Below this a determinant is none to divide by: the step is e itself then, as if u were constant. */
#define GPUREG_LEAST_NEWTON_DETERMINANT 0.01f

/** Finds e at a voxel, its derivative I + ∂u/∂x, and returns its length in voxels. */
GPUREG_REAL_FUNCTION float
FindInverseErrorAndJacobian(const FieldGrid *          grid,
                            const int *                index,
                            GPUREG_GLOBAL const real * field,
                            const real *               inverse,
                            real *                     error,
                            real *                     jacobian)
{
  int  cell[3];
  real fraction[3], slopes[9];
  real moved[3] = { 0.0f, 0.0f, 0.0f };
  for (int k = 0; k < 9; ++k)
  {
    jacobian[k] = 0.0f;
  }
  if (MoveFromVoxel(grid, index, inverse, cell, fraction))
  {
    InterpolateFieldAndSlopes(grid, field, cell, fraction, moved, slopes);
    FindFieldGradient(grid, slopes, jacobian);
  }
  for (int r = 0; r < 3; ++r)
  {
    error[r] = inverse[r] + moved[r];
    jacobian[4 * r] += 1.0f;
  }
  return FindLengthInVoxels(grid, error);
}

/** Finds the step that leads from e to 0 along the derivative. */
GPUREG_REAL_FUNCTION void
FindNewtonStep(const real * jacobian, const real * error, real * step)
{
  real cofactors[9];
  for (int k = 0; k < 9; ++k)
  {
    cofactors[k] = FindCofactor(jacobian, k / 3, k % 3);
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

/** Improves the inverse at a voxel, in place. */
GPUREG_REAL_FUNCTION void
InvertByNewton(const FieldGrid *          grid,
               const NewtonRule *         rule,
               GPUREG_GLOBAL const real * field,
               GPUREG_GLOBAL real *       inverse,
               i64                        item)
{
  int  index[3];
  real error[3], jacobian[9], step[3];
  real best[3] = { inverse[3 * item], inverse[3 * item + 1], inverse[3 * item + 2] };
  real length = 1.0f;
  FindVoxelIndex(grid, item, index);
  if (rule->hasBorder && IsOnFieldBorder(grid, index))
  {
    inverse[3 * item] = inverse[3 * item + 1] = inverse[3 * item + 2] = 0.0f;
    return;
  }
  float least = FindInverseErrorAndJacobian(grid, index, field, best, error, jacobian);
  FindNewtonStep(jacobian, error, step);
  for (int n = 1; n < rule->readings && least > rule->error; ++n)
  {
    real tried[3];
    for (int r = 0; r < 3; ++r)
    {
      tried[r] = MultiplyAdd(length, step[r], best[r]);
    }
    const float found = FindInverseErrorAndJacobian(grid, index, field, tried, error, jacobian);
    if (found < least)
    {
      least = found;
      length = 1.0f;
      FindNewtonStep(jacobian, error, step);
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
  for (int r = 0; r < 3; ++r)
  {
    inverse[3 * item + r] = best[r];
  }
}

GPUREG_NAMESPACE_END

#endif
