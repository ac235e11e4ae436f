// SPDX-License-Identifier: Apache-2.0
// The transpose of SquareField(): from the gradient by squared(x) = s u(x) + s u(x + s u(x)) to that by u. With g the gradient by squared,
// a voxel x gets s (g + s (∂u/∂x)ᵀ g), at x + s u(x), and each corner of the cell there gets s g times the weight that linear interpolation
// gives it. Each voxel adds the latter to the 8 corners as integers, so that the sum does not depend on the order of threads. A unit is
// 2^-bits of the gradient's largest component, with as many bits as the sum over all voxels has room for: 39 for 8 million.
// Shared by C++, CUDA C++ and OpenCL C. A prelude for these adds: AddGlobally().
#ifndef gpureg_kernels_FieldAdjoint_h
#define gpureg_kernels_FieldAdjoint_h

GPUREG_NAMESPACE_BEGIN

/** Moves from a voxel by scale times a field's vector, as SquareField() does. isFree[d]: 1 where the place is inside along axis d, 0 where
 *  the field's edge continues, and has no slope. */
GPUREG_REAL_FUNCTION void
MoveBySquaredField(const FieldGrid *          grid,
                   float                      scale,
                   GPUREG_GLOBAL const real * field,
                   i64                        item,
                   int *                      cell,
                   real *                     fraction,
                   int *                      isFree)
{
  int  index[3];
  real vector[3];
  ComputeVoxelIndex(grid, item, index);
  for (int r = 0; r < 3; ++r)
  {
    vector[r] = (real)scale * field[3 * item + r];
  }
  MoveFromVoxel(grid, index, vector, cell, fraction);
  for (int d = 0; d < 3; ++d)
  {
    isFree[d] = cell[d] >= 0 && cell[d] < grid->size[d] - 1;
  }
  MoveToEdge(grid, cell, fraction);
}

/** Writes the part of the gradient by a field that a voxel's own vector gets from the gradient by the squared field, and sets the voxel's
 *  three sums, which ScatterToCorners() adds to, to 0. scale, field: as in SquareField(); carried is another array than gradient. Moves 72
 *  bytes a voxel, of floats. */
GPUREG_REAL_FUNCTION void
CarryToVoxel(const FieldGrid *          grid,
             float                      scale,
             GPUREG_GLOBAL const real * field,
             GPUREG_GLOBAL const real * gradient,
             GPUREG_GLOBAL u64 *        sums,
             GPUREG_GLOBAL real *       carried,
             i64                        item)
{
  int        cell[3], isFree[3];
  real       moved[3], fraction[3], slopes[9], jacobian[9];
  const real g[3] = { gradient[3 * item], gradient[3 * item + 1], gradient[3 * item + 2] };
  MoveBySquaredField(grid, scale, field, item, cell, fraction, isFree);
  InterpolateFieldAndSlopes(grid, field, cell, fraction, moved, slopes);
  for (int k = 0; k < 9; ++k)
  {
    slopes[k] = isFree[k / 3] ? slopes[k] : (real)0.0f;
  }
  ComputeFieldGradient(grid, slopes, jacobian);
  for (int c = 0; c < 3; ++c)
  {
    const real sum = MultiplyAdd(jacobian[c], g[0], MultiplyAdd(jacobian[3 + c], g[1], jacobian[6 + c] * g[2]));
    carried[3 * item + c] = (real)scale * MultiplyAdd((real)scale, sum, g[c]);
    sums[3 * item + c] = 0;
  }
}

GPUREG_REAL_ITEM_KERNEL(CarryToVoxel, 1 << 12, "carrying a gradient back through a squaring");

/** Adds what a voxel's gradient gives to the corners of the cell that it comes to, to sums, 3 a voxel. units: 2^bits, see
 *  above; largest[0]: the largest component of gradient. 24 atomic additions. */
GPUREG_REAL_FUNCTION void
ScatterToCorners(const FieldGrid *           grid,
                 float                       scale,
                 float                       units,
                 GPUREG_GLOBAL const float * largest,
                 GPUREG_GLOBAL const real *  field,
                 GPUREG_GLOBAL const real *  gradient,
                 GPUREG_GLOBAL u64 *         sums,
                 i64                         item)
{
  int  cell[3], isFree[3];
  real fraction[3];
  if (!(largest[0] > 0.0f))
  {
    return;
  }
  MoveBySquaredField(grid, scale, field, item, cell, fraction, isFree);
  const FieldCorners corners = LocateFieldCorners(grid, cell);
  for (int corner = 0; corner < 8; ++corner)
  {
    i64  first = corners.first;
    real weight = 1.0f;
    for (int d = 0; d < 3; ++d)
    {
      const int isUpper = corner >> d & 1;
      first += isUpper ? corners.step[d] : 0;
      weight *= isUpper ? fraction[d] : 1.0f - fraction[d];
    }
    for (int r = 0; r < 3; ++r)
    {
      const i64 addend = (i64)(weight * (gradient[3 * item + r] / (real)largest[0]) * (real)units);
      if (addend != 0)
      {
        AddGlobally(sums + first + r, (u64)addend);
      }
    }
  }
}

GPUREG_REAL_ITEM_KERNEL(ScatterToCorners, 1 << 12, "carrying a gradient back through a squaring");

/** Writes a component of the gradient: what CarryToVoxel() has written and the scattered sum. Moves 16 bytes a component, of floats. */
GPUREG_REAL_FUNCTION void
AddScattered(float                       scale,
             float                       units,
             GPUREG_GLOBAL const float * largest,
             GPUREG_GLOBAL const u64 *   sums,
             GPUREG_GLOBAL const real *  carried,
             GPUREG_GLOBAL real *        byField,
             i64                         item)
{
  const real sum = (real)(i64)sums[item] / (real)units * (real)largest[0];
  byField[item] = MultiplyAdd((real)scale, sum, carried[item]);
}

GPUREG_REAL_ITEM_KERNEL(AddScattered, 1 << 14, "carrying a gradient back through a squaring");

GPUREG_NAMESPACE_END

#endif
