// SPDX-License-Identifier: Apache-2.0
// The transpose of composing fields: from the gradient by composed(x) = a·inner(x) + b·outer(x + a·inner(x)) to those by inner and outer.
// With g the gradient by composed, that by inner is a (g + b (∂outer/∂x)ᵀ g), at x + a·inner(x), and that by outer, at the corners of the
// cell there, b·g times the weight that linear interpolation gives each. A squaring has u for both, and its gradient is the sum.
//
// The gradient by outer is computed in one of two ways, which differ only in rounding:
// - gathered: a voxel looks among its neighbours for those that come to its cells. Exact, and 48 bytes a voxel, but (2·radius + 1)³
//   reads: for fields whose longest vector has about a voxel, as in the first squarings of an exponential.
// - scattered, for any field: each voxel adds to the 8 corners, as integers, so that the sum does not depend on the order of threads. A
//   unit is 2^-bits of the gradient's largest component, with as many bits as the sum over all voxels has room for: 39 for 8 million.
//   144 bytes a voxel, of 24 atomic additions, and 24 bytes a voxel for the sums.
// Shared by C++, CUDA C++ and OpenCL C. A prelude for these adds: AddGlobally().
#ifndef gpureg_kernels_FieldAdjoint_h
#define gpureg_kernels_FieldAdjoint_h

GPUREG_NAMESPACE_BEGIN

/** Carries the gradient by a composed field back to the inner one, at a voxel. factors, outer, inner: as in ComposeFields(); carried may be
 *  gradient. Moves 48 bytes a voxel, 36 of a squaring. */
GPUREG_REAL_FUNCTION void
CarryToInner(const FieldGrid *           grid,
             GPUREG_GLOBAL const float * factors,
             GPUREG_GLOBAL const real *  outer,
             GPUREG_GLOBAL const real *  inner,
             GPUREG_GLOBAL const real *  gradient,
             GPUREG_GLOBAL real *        carried,
             i64                         item)
{
  int        index[3], cell[3];
  real       vector[3], moved[3], fraction[3], slopes[9], jacobian[9];
  const real g[3] = { gradient[3 * item], gradient[3 * item + 1], gradient[3 * item + 2] };
  FindVoxelIndex(grid, item, index);
  for (int r = 0; r < 3; ++r)
  {
    vector[r] = (real)factors[FactorOfInner] * inner[3 * item + r];
  }
  for (int k = 0; k < 9; ++k)
  {
    jacobian[k] = 0.0f;
  }
  if (MoveFromVoxel(grid, index, vector, cell, fraction))
  {
    InterpolateFieldAndSlopes(grid, outer, cell, fraction, moved, slopes);
    ComputeFieldGradient(grid, slopes, jacobian);
  }
  for (int c = 0; c < 3; ++c)
  {
    const real sum = MultiplyAdd(jacobian[c], g[0], MultiplyAdd(jacobian[3 + c], g[1], jacobian[6 + c] * g[2]));
    carried[3 * item + c] = (real)factors[FactorOfInner] * MultiplyAdd((real)factors[FactorOfOuter], sum, g[c]);
  }
}

/** Computes the weights of the lower and the upper corner along an axis. At the grid's end, without an upper corner, the lower corner gets
 *  both weights. */
GPUREG_REAL_FUNCTION void
WeighCorners(i64 step, real fraction, real * weights)
{
  weights[0] = step > 0 ? 1.0f - fraction : (real)1.0f;
  weights[1] = step > 0 ? fraction : (real)0.0f;
}

/** Returns an element's magnitude, for the largest component of a gradient. */
GPUREG_REAL_FUNCTION float
ComputeMagnitude(GPUREG_GLOBAL const real * field, i64 item)
{
  const float value = (float)field[item];
  return value < 0.0f ? -value : value;
}

/** Adds a voxel's part of the gradient by the outer field to sums: of the same layout, and 0 at first. units: 2^bits, see above;
 *  largest[0]: the largest component of gradient. */
GPUREG_REAL_GROUP_FUNCTION void
ScatterToOuter(const FieldGrid *           grid,
               float                       units,
               GPUREG_GLOBAL const float * largest,
               GPUREG_GLOBAL const float * factors,
               GPUREG_GLOBAL const real *  inner,
               GPUREG_GLOBAL const real *  gradient,
               GPUREG_GLOBAL u64 *         sums,
               i64                         item)
{
  int  index[3], cell[3];
  real vector[3], fraction[3], weights[6];
  FindVoxelIndex(grid, item, index);
  for (int r = 0; r < 3; ++r)
  {
    vector[r] = (real)factors[FactorOfInner] * inner[3 * item + r];
  }
  if (!MoveFromVoxel(grid, index, vector, cell, fraction) || !(largest[0] > 0.0f))
  {
    return;
  }
  const FieldCorners corners = FindFieldCorners(grid, cell);
  for (int d = 0; d < 3; ++d)
  {
    WeighCorners(corners.step[d], fraction[d], weights + 2 * d);
  }
  for (int corner = 0; corner < 8; ++corner)
  {
    const int  x = corner & 1;
    const int  y = corner >> 1 & 1;
    const int  z = corner >> 2;
    const i64  first = corners.first + x * corners.step[0] + y * corners.step[1] + z * corners.step[2];
    const real weight = weights[x] * weights[2 + y] * weights[4 + z];
    for (int r = 0; r < 3; ++r)
    {
      const i64 part = (i64)(weight * (gradient[3 * item + r] / (real)largest[0]) * (real)units);
      if (part != 0)
      {
        AddGlobally(sums + first + r, (u64)part);
      }
    }
  }
}

/** Adds an element of the scattered sums to the gradient by the inner field, and sets the sum to 0 for the next use. Moves 24 bytes an
 *  element. */
GPUREG_REAL_FUNCTION void
AddScattered(float                       units,
             GPUREG_GLOBAL const float * largest,
             GPUREG_GLOBAL const float * factors,
             GPUREG_GLOBAL u64 *         sums,
             GPUREG_GLOBAL real *        carried,
             i64                         item)
{
  const real sum = (real)(i64)sums[item] / (real)units * (real)largest[0];
  carried[item] = MultiplyAdd((real)factors[FactorOfOuter], sum, carried[item]);
  sums[item] = 0;
}

/** Returns the weight that linear interpolation at a place along an axis gives to a voxel there. */
GPUREG_REAL_FUNCTION real
ComputeWeightOfVoxel(int size, int cell, real fraction, int voxel)
{
  if (cell < 0 || cell >= size - 1)
  {
    return voxel == (cell < 0 ? 0 : size - 1) ? 1.0f : 0.0f;
  }
  return voxel == cell ? 1.0f - fraction : (voxel == cell + 1 ? fraction : (real)0.0f);
}

/** Adds the gradient by the outer field at a voxel to the gradient by the inner field. radius: the number of neighbours along each axis that
 *  inner may displace to this voxel: at least 1, and at least the largest component of inner times its factor, in voxels. */
GPUREG_REAL_FUNCTION void
GatherToOuter(const FieldGrid *           grid,
              int                         radius,
              GPUREG_GLOBAL const float * factors,
              GPUREG_GLOBAL const real *  inner,
              GPUREG_GLOBAL const real *  gradient,
              GPUREG_GLOBAL real *        carried,
              i64                         item)
{
  int  index[3], first[3], last[3], at[3], cell[3];
  real vector[3], fraction[3];
  real sum[3] = { 0.0f, 0.0f, 0.0f };
  FindVoxelIndex(grid, item, index);
  for (int d = 0; d < 3; ++d)
  {
    first[d] = index[d] > radius ? index[d] - radius : 0;
    last[d] = index[d] + radius < grid->size[d] ? index[d] + radius : grid->size[d] - 1;
  }
  for (at[2] = first[2]; at[2] <= last[2]; ++at[2])
  {
    for (at[1] = first[1]; at[1] <= last[1]; ++at[1])
    {
      i64 voxel = ((i64)at[2] * grid->size[1] + at[1]) * grid->size[0] + first[0];
      for (at[0] = first[0]; at[0] <= last[0]; ++at[0], ++voxel)
      {
        for (int r = 0; r < 3; ++r)
        {
          vector[r] = (real)factors[FactorOfInner] * inner[3 * voxel + r];
        }
        if (MoveFromVoxel(grid, at, vector, cell, fraction))
        {
          real weight = 1.0f;
          for (int d = 0; d < 3; ++d)
          {
            weight *= ComputeWeightOfVoxel(grid->size[d], cell[d], fraction[d], index[d]);
          }
          for (int r = 0; r < 3; ++r)
          {
            sum[r] = MultiplyAdd(weight, gradient[3 * voxel + r], sum[r]);
          }
        }
      }
    }
  }
  for (int r = 0; r < 3; ++r)
  {
    carried[3 * item + r] = MultiplyAdd((real)factors[FactorOfOuter], sum[r], carried[3 * item + r]);
  }
}

GPUREG_NAMESPACE_END

#endif
