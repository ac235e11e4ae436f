// SPDX-License-Identifier: Apache-2.0
// A chain of transforms, T(x) = Tn(… T2(T1(x))), from an index of the output grid to a position in the
// input: affine maps, B-splines and displacement fields in any order, in one go.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_TransformChain_h
#define gpureg_kernels_TransformChain_h

GPUREG_NAMESPACE_BEGIN

enum
{
  MaximumTransformSplineOrder = 3,
  /** In the place of an order: a displacement field, interpolated linearly. */
  ChainPartIsField = -1
};

/** A part that is not linear: a grid of displacement vectors. The position in its grid is an affine map of
 *  the output index, which is kept exactly, plus the displacement d that the parts before have added:
 *  p_k = A_k·index + d_k. All that is linear between two parts is in A_k and in the vectors, which are
 *  in the units of the next part's grid (behind the last one: of the input's). So large origins and
 *  oblique grids cost nothing here, and rounding is of the displacement's size, not of the index'. */
typedef struct ChainPart
{
  FixedMap toGrid;
  i64      firstVector; /* in the array of all parts' vectors */
  int      size[3];
  int      dimension;
  int      order;    /* of a B-spline, 0 to 3; or ChainPartIsField */
  float    carry[9]; /* d in the units of the next grid, by rows */
} ChainPart;

GPUREG_FUNCTION i64
VectorOffset(const ChainPart * part, int x, int y, int z)
{
  return part->firstVector + (i64)(z * part->size[1] + y) * part->size[0] + x;
}

GPUREG_REAL_FUNCTION void
AddScaledVector(real weight, float4 vector, real * sum)
{
  sum[0] = MultiplyAdd(weight, (real)vector.x, sum[0]);
  sum[1] = MultiplyAdd(weight, (real)vector.y, sum[1]);
  sum[2] = MultiplyAdd(weight, (real)vector.z, sum[2]);
}

/** The grid's first control point that counts along an axis, and its spline's argument t in [0, 1].
 *  False outside of itk::BSplineTransform's valid region, whose upper end belongs to it. */
GPUREG_REAL_FUNCTION int
FindControlPoints(int order, int size, int cell, real fraction, int * first, real * t)
{
  /* An even order's knots lie half-way between the control points. */
  int knot = cell;
  *t = fraction;
  if ((order & 1) == 0)
  {
    const int upperHalf = fraction >= 0.5f;
    knot += upperHalf;
    *t = upperHalf ? fraction - 0.5f : fraction + 0.5f;
  }
  if (knot == size - (order + 1) / 2 && *t == 0.0f)
  {
    knot -= 1;
    *t = 1.0f;
  }
  *first = knot - order / 2;
  return *first >= 0 && *first + order < size;
}

/** d += the B-spline's displacement at cell + fraction; nothing outside of its valid region. */
GPUREG_REAL_FUNCTION void
AddSplineDisplacement(
  const ChainPart * part, GPUREG_GLOBAL const float4 * vectors, const int * cell, const real * fraction, real * d)
{
  real weights[3][MaximumTransformSplineOrder + 1];
  int  first[3] = { 0, 0, 0 };
  for (int axis = 0; axis < 3; ++axis)
  {
    real t = 0.0f;
    weights[axis][0] = 1.0f;
    if (axis < part->dimension)
    {
      if (!FindControlPoints(part->order, part->size[axis], cell[axis], fraction[axis], first + axis, &t))
      {
        return;
      }
      SplineWeights(part->order, t, weights[axis]);
    }
  }
  const int                    depth = part->dimension > 2 ? part->order : 0;
  GPUREG_GLOBAL const float4 * corner = vectors + VectorOffset(part, first[0], first[1], first[2]);
  for (int c = 0; c <= depth; ++c)
  {
    real plane[3] = { 0.0f, 0.0f, 0.0f };
    for (int b = 0; b <= part->order; ++b)
    {
      GPUREG_GLOBAL const float4 * row = corner + (i64)(c * part->size[1] + b) * part->size[0];
      real                         line[3] = { 0.0f, 0.0f, 0.0f };
      for (int a = 0; a <= part->order; ++a)
      {
        AddScaledVector(weights[0][a], row[a], line);
      }
      for (int r = 0; r < 3; ++r)
      {
        plane[r] = MultiplyAdd(weights[1][b], line[r], plane[r]);
      }
    }
    for (int r = 0; r < 3; ++r)
    {
      d[r] = MultiplyAdd(weights[2][c], plane[r], d[r]);
    }
  }
}

/** d += the field's displacement at cell + fraction; nothing outside of its buffer
 *  (itk::DisplacementFieldTransform). */
GPUREG_REAL_FUNCTION void
AddFieldDisplacement(
  const ChainPart * part, GPUREG_GLOBAL const float4 * vectors, const int * cell, const real * fraction, real * d)
{
  real weights[3][2];
  int  index[3][2];
  for (int axis = 0; axis < 3; ++axis)
  {
    const int nearest = cell[axis] + (fraction[axis] >= 0.5f);
    if (nearest < 0 || nearest >= part->size[axis])
    {
      return;
    }
    /* In the half voxel around the field its edge continues. */
    index[axis][0] = cell[axis] < 0 ? 0 : cell[axis];
    index[axis][1] = cell[axis] + 1 < part->size[axis] ? cell[axis] + 1 : part->size[axis] - 1;
    weights[axis][0] = 1.0f - fraction[axis];
    weights[axis][1] = fraction[axis];
  }
  for (int c = 0; c < 2; ++c)
  {
    for (int b = 0; b < 2; ++b)
    {
      const real weight = weights[2][c] * weights[1][b];
      AddScaledVector(weight * weights[0][0], vectors[VectorOffset(part, index[0][0], index[1][b], index[2][c])], d);
      AddScaledVector(weight * weights[0][1], vectors[VectorOffset(part, index[0][1], index[1][b], index[2][c])], d);
    }
  }
}

/** The position in a grid: the affine map of the output index, moved by d. */
GPUREG_REAL_FUNCTION void
LocateMoved(const FixedMap * map, int x, int y, int z, const real * d, int * cell, real * fraction)
{
  for (int r = 0; r < 3; ++r)
  {
    const i64 position = ApplyFixedRow(map, r, x, y, z);
    cell[r] = CellOf(position);
    FindFraction(position, fraction + r);
    MovePosition(d[r], cell + r, fraction + r);
  }
}

/** The displacement, in the input's voxels, that all parts together add to the affine map of an output index. */
GPUREG_REAL_FUNCTION void
DisplaceByChain(int                             partCount,
                GPUREG_GLOBAL const ChainPart * parts,
                GPUREG_GLOBAL const float4 *    vectors,
                int                             x,
                int                             y,
                int                             z,
                real *                          d)
{
  d[0] = 0.0f;
  d[1] = 0.0f;
  d[2] = 0.0f;
  for (int k = 0; k < partCount; ++k)
  {
    const ChainPart part = parts[k];
    int             cell[3];
    real            fraction[3], moved[3];
    LocateMoved(&part.toGrid, x, y, z, d, cell, fraction);
    for (int r = 0; r < 3; ++r)
    {
      moved[r] = (real)part.carry[3 * r] * d[0];
      moved[r] = MultiplyAdd((real)part.carry[3 * r + 1], d[1], moved[r]);
      moved[r] = MultiplyAdd((real)part.carry[3 * r + 2], d[2], moved[r]);
    }
    if (part.order == ChainPartIsField)
    {
      AddFieldDisplacement(&part, vectors, cell, fraction, moved);
    }
    else
    {
      AddSplineDisplacement(&part, vectors, cell, fraction, moved);
    }
    d[0] = moved[0];
    d[1] = moved[1];
    d[2] = moved[2];
  }
}

GPUREG_NAMESPACE_END

#endif
