// SPDX-License-Identifier: Apache-2.0
// The displacements by the grids of TransformChain.h in 64-bit integers, for few samples: displacements of floats, exact to 1e-6 voxel,
// change the nearest voxel of one sample in a few thousand, which shows if samples are few.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FixedPointGrid_h
#define gpureg_kernels_FixedPointGrid_h

GPUREG_NAMESPACE_BEGIN

/** Computes LocateControlPoints in fixed point, at a position in the grid; t in units of 2^-32. */
GPUREG_FUNCTION int
LocateFixedControlPoints(const ChainPart * part, int axis, i64 position, int * first, i64 * t)
{
  const int size = part->size[axis];
  const int lowerEnd = part->order / 2;
  const int upperEnd = size - (part->order + 1) / 2;
  /* The knots of an even order lie half-way between the control points. */
  const i64 shifted = (part->order & 1) ? position : position + GPUREG_FIXED_HALF;
  const i64 fromLowerEnd = shifted - lowerEnd * GPUREG_FIXED_ONE;
  const i64 fromUpperEnd = shifted - upperEnd * GPUREG_FIXED_ONE;
  int       knot = IntegerPart(shifted);
  *t = (i64)(u32)shifted;
  if (fromLowerEnd < 0 && fromLowerEnd >= -part->slack)
  {
    knot = lowerEnd;
    *t = 0;
  }
  if (fromUpperEnd >= (part->isOpen ? -part->slack : 0) && fromUpperEnd <= part->slack)
  {
    /* The upper end belongs to the cell before it. */
    knot = part->isOpen ? upperEnd : upperEnd - 1;
    *t = GPUREG_FIXED_ONE;
  }
  *first = knot - lowerEnd;
  return *first >= 0 && *first + part->order < size;
}

/** Adds weight·(x, y, z) to sum. */
GPUREG_FUNCTION void
AddFixedVector(i64 weight, i64 x, i64 y, i64 z, i64 * sum)
{
  sum[0] += MultiplyFixedToNearest(x, weight);
  sum[1] += MultiplyFixedToNearest(y, weight);
  sum[2] += MultiplyFixedToNearest(z, weight);
}

/** Adds the B-spline's displacement at a position in its grid to d; nothing outside of its valid region. vectors: i64[3] each. */
GPUREG_FUNCTION void
AddFixedSplineDisplacement(const ChainPart * part, GPUREG_GLOBAL const i64 * vectors, const i64 * position, i64 * d)
{
  i64       weights[3][MaximumTransformSplineOrder + 1];
  int       first[3];
  const int order = part->order;
  const int depth = part->dimension > 2 ? order : 0;
  first[2] = 0;
  weights[2][0] = GPUREG_FIXED_ONE;
  for (int axis = 0; axis < part->dimension; ++axis)
  {
    i64 t;
    if (!LocateFixedControlPoints(part, axis, position[axis], first + axis, &t))
    {
      return;
    }
    FixedSplineWeights(order, t, weights[axis]);
  }
  for (int c = 0; c <= depth; ++c)
  {
    i64 plane[3] = { 0, 0, 0 };
    for (int b = 0; b <= order; ++b)
    {
      GPUREG_GLOBAL const i64 * vector = vectors + 3 * VectorOffset(part, first[0], first[1] + b, first[2] + c);
      i64                       line[3] = { 0, 0, 0 };
      for (int a = 0; a <= order; ++a, vector += 3)
      {
        AddFixedVector(weights[0][a], vector[0], vector[1], vector[2], line);
      }
      AddFixedVector(weights[1][b], line[0], line[1], line[2], plane);
    }
    AddFixedVector(weights[2][c], plane[0], plane[1], plane[2], d);
  }
}

/** Adds the field's displacement at a position in its grid to d, as AddFieldDisplacement does. vectors: i64[3] each. */
GPUREG_FUNCTION void
AddFixedFieldDisplacement(const ChainPart * part, GPUREG_GLOBAL const i64 * vectors, const i64 * position, i64 * d)
{
  int index[3][2];
  i64 fraction[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    const int nearest = NearestTo(position[axis]);
    const int cell = IntegerPart(position[axis]);
    if (nearest < 0 || nearest >= part->size[axis])
    {
      return;
    }
    /* In the half voxel around the field, its edge is repeated. */
    index[axis][0] = cell < 0 ? 0 : cell;
    fraction[axis] = (i64)(u32)position[axis];
    index[axis][1] = cell < 0 ? 0 : (cell + 1 < part->size[axis] ? cell + 1 : cell);
  }
  for (int r = 0; r < 3; ++r)
  {
    i64 moves[8];
    for (int corner = 0; corner < 8; ++corner)
    {
      const i64 node =
        VectorOffset(part, index[0][corner & 1], index[1][(corner >> 1) & 1], index[2][(corner >> 2) & 1]);
      moves[corner] = vectors[3 * node + r];
    }
    d[r] += MixEightFixed(moves, fraction);
  }
}

/** 2^18 voxels: a displacement of this length leads out of every grid that follows, none of which is half as long. */
#define GPUREG_FARTHEST_FIXED_POINT_MOVE ((i64)1 << 50)

/** Multiplies d by the matrix carry, such as from the units of a part's grid to those of the next. Displacements are clamped to
 *  GPUREG_FARTHEST_FIXED_POINT_MOVE first. */
GPUREG_FUNCTION void
CarryInFixedPoint(const i64 * carry, i64 * d)
{
  i64 moved[3] = { 0, 0, 0 };
  for (int c = 0; c < 3; ++c)
  {
    const i64 least = -GPUREG_FARTHEST_FIXED_POINT_MOVE;
    const i64 most = GPUREG_FARTHEST_FIXED_POINT_MOVE;
    const i64 within = d[c] < least ? least : (d[c] > most ? most : d[c]);
    AddFixedVector(within, carry[c], carry[3 + c], carry[6 + c], moved);
  }
  d[0] = moved[0];
  d[1] = moved[1];
  d[2] = moved[2];
}

/** Computes DisplaceByPart in fixed point, at a position in the part's grid. */
GPUREG_LARGE_FUNCTION void
DisplaceByPartInFixedPoint(const ChainPart * part, GPUREG_GLOBAL const i64 * vectors, const i64 * position, i64 * d)
{
  CarryInFixedPoint(part->fixedCarry, d);
  if (part->kind == ChainPartIsField)
  {
    AddFixedFieldDisplacement(part, vectors, position, d);
  }
  else
  {
    AddFixedSplineDisplacement(part, vectors, position, d);
  }
}

GPUREG_NAMESPACE_END

#endif
