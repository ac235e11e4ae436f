// SPDX-License-Identifier: Apache-2.0
// A chain of transforms, T(x) = Tn(… T2(T1(x))), from an index of the output grid to a position in the input: affine maps, B-splines and
// displacement fields in any order, in one pass.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_TransformChain_h
#define gpureg_kernels_TransformChain_h

GPUREG_NAMESPACE_BEGIN

enum
{
  MaximumTransformSplineOrder = 3
};

/** The kinds of a part's vectors. */
enum
{
  /** The coefficients of a B-spline. */
  ChainPartIsSpline = 0,
  /** A displacement field, interpolated linearly. */
  ChainPartIsField = 1,
  /** One displacement for each voxel of the output; in the first part only. */
  ChainPartIsOfOutput = 2
};

/** Entries of a carry below this fit into fixed point: see FixedPointGrid.h. */
#define GPUREG_LARGEST_FIXED_POINT_CARRY 512

/** A part that is not linear: a grid of displacement vectors. The position in its grid is an affine map of the output index, stored
 *  exactly, plus the displacement d that the parts before have added: p_k = A_k·index + d_k. All linear transforms between two parts are
 *  in A_k and in the vectors, which are in the units of the next part's grid (behind the last part: of the input's grid). So large
 *  origins and oblique grids cost no accuracy, and rounding errors are relative to the displacement, not to the index, which a float
 *  holds to 3e-5 voxels at 500. */
typedef struct ChainPart
{
  FixedMap toGrid;
  i64      firstVector; /* in the array of all parts' vectors */
  int      size[3];
  int      dimension;
  int      kind;          /* ChainPartIsSpline, ChainPartIsField or ChainPartIsOfOutput */
  int      order;         /* of a B-spline, 0 to 3 */
  int      isOpen;        /* the upper end of a B-spline's valid region is outside */
  int      slack;         /* error of a position in the grid by rounding, in units of 2^-32 */
  float    carry[9];      /* matrix from d to the units of the next grid, by rows */
  i64      fixedCarry[9]; /* carry in units of 2^-32 */
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

/** Finds the grid's first control point with a weight along an axis, and the spline's argument t in [0, 1]. Returns 0 outside of the
 *  valid region. A position within part->slack of an end of the region counts as lying on it: the voxels of an image whose domain is the
 *  region lie there, but for rounding. The lower end is inside; so is the upper one in itk::BSplineTransform, which takes a point within
 *  four floating-point steps to be on it; in itk::BSplineDeformableTransform (isOpen) it is outside. */
GPUREG_REAL_FUNCTION int
LocateControlPoints(int order, const ChainPart * part, int axis, int cell, real fraction, int * first, real * t)
{
  const int  size = part->size[axis];
  const int  lowerEnd = order / 2;
  const int  upperEnd = size - (order + 1) / 2;
  const real slack = (real)part->slack * (real)GPUREG_FIXED_UNIT;
  /* The knots of an even order lie half-way between the control points. */
  int knot = cell;
  *t = fraction;
  if ((order & 1) == 0)
  {
    const int upperHalf = fraction >= 0.5f;
    knot += upperHalf;
    *t = upperHalf ? fraction - 0.5f : fraction + 0.5f;
  }
  if (knot == lowerEnd - 1 && *t >= 1.0f - slack)
  {
    knot = lowerEnd;
    *t = 0.0f;
  }
  if ((knot == upperEnd && *t <= slack) || (part->isOpen && knot == upperEnd - 1 && *t >= 1.0f - slack))
  {
    /* The upper end belongs to the cell before it. */
    knot = part->isOpen ? upperEnd : upperEnd - 1;
    *t = 1.0f;
  }
  *first = knot - lowerEnd;
  return *first >= 0 && *first + order < size;
}

/** Computes the sum of the control points of one column, along y and z, at a position: Σ_c w_c Σ_b w_b v(b, c). */
GPUREG_REAL_FUNCTION void
SumControlPointColumn(int                          order,
                      const ChainPart *            part,
                      GPUREG_GLOBAL const float4 * corner, /* the column's first vector with a weight */
                      const real *                 wy,
                      const real *                 wz,
                      real *                       sum)
{
  const int depth = part->dimension > 2 ? order : 0;
  sum[0] = 0.0f;
  sum[1] = 0.0f;
  sum[2] = 0.0f;
  for (int c = 0; c <= depth; ++c)
  {
    GPUREG_GLOBAL const float4 * point = corner + (i64)c * part->size[1] * part->size[0];
    real                         plane[3] = { 0.0f, 0.0f, 0.0f };
    for (int b = 0; b <= order; ++b, point += part->size[0])
    {
      AddScaledVector(wy[b], *point, plane);
    }
    for (int r = 0; r < 3; ++r)
    {
      sum[r] = MultiplyAdd(wz[c], plane[r], sum[r]);
    }
  }
}

/** Finds the control points with weights along y and z at a position, and these weights. Returns 0 outside of the valid region. */
GPUREG_REAL_FUNCTION int
LocateControlPointColumns(
  int order, const ChainPart * part, const int * cell, const real * fraction, int * first, real * wy, real * wz)
{
  real t = 0.0f;
  first[2] = 0;
  wz[0] = 1.0f;
  if (!LocateControlPoints(order, part, 1, cell[1], fraction[1], first + 1, &t))
  {
    return 0;
  }
  SplineWeights(order, t, wy);
  if (part->dimension > 2)
  {
    if (!LocateControlPoints(order, part, 2, cell[2], fraction[2], first + 2, &t))
    {
      return 0;
    }
    SplineWeights(order, t, wz);
  }
  return 1;
}

/** Adds the B-spline's displacement at cell + fraction to d; nothing outside of its valid region. */
GPUREG_REAL_FUNCTION void
AddSplineDisplacement(int                          order,
                      const ChainPart *            part,
                      GPUREG_GLOBAL const float4 * vectors,
                      const int *                  cell,
                      const real *                 fraction,
                      real *                       d)
{
  real wx[MaximumTransformSplineOrder + 1], wy[MaximumTransformSplineOrder + 1], wz[MaximumTransformSplineOrder + 1];
  real t;
  int  first[3];
  if (!LocateControlPoints(order, part, 0, cell[0], fraction[0], first, &t) ||
      !LocateControlPointColumns(order, part, cell, fraction, first, wy, wz))
  {
    return;
  }
  SplineWeights(order, t, wx);
  GPUREG_GLOBAL const float4 * corner = vectors + VectorOffset(part, first[0], first[1], first[2]);
  for (int a = 0; a <= order; ++a)
  {
    real column[3];
    SumControlPointColumn(order, part, corner + a, wy, wz, column);
    for (int r = 0; r < 3; ++r)
    {
      d[r] = MultiplyAdd(wx[a], column[r], d[r]);
    }
  }
}

/** Adds the field's displacement at cell + fraction to d; nothing outside of its buffer (itk::DisplacementFieldTransform). */
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
    /* In the half voxel around the field, its edge is repeated. */
    index[axis][0] = cell[axis] < 0 ? 0 : cell[axis];
    /* A vector of weight 0 has no influence, even if it is infinite or NaN. */
    index[axis][1] = cell[axis] + 1 < part->size[axis] && fraction[axis] > 0.0f ? cell[axis] + 1 : index[axis][0];
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

/** Computes a position in a grid, moved by d. */
GPUREG_REAL_FUNCTION void
LocateMoved(const i64 * position, const real * d, int * cell, real * fraction)
{
  for (int r = 0; r < 3; ++r)
  {
    cell[r] = IntegerPart(position[r]);
    ComputeFraction(position[r], fraction + r);
    MovePosition(d[r], cell + r, fraction + r);
  }
}

/** Converts d from the units of a part's grid to those of the next grid, by the part's carry. */
GPUREG_REAL_FUNCTION void
CarryDisplacement(const ChainPart * part, real * d)
{
  real moved[3];
  for (int r = 0; r < 3; ++r)
  {
    moved[r] = (real)part->carry[3 * r] * d[0];
    moved[r] = MultiplyAdd((real)part->carry[3 * r + 1], d[1], moved[r]);
    moved[r] = MultiplyAdd((real)part->carry[3 * r + 2], d[2], moved[r]);
  }
  d[0] = moved[0];
  d[1] = moved[1];
  d[2] = moved[2];
}

/** Applies one part whose grid is not the output's: converts d, in the units of its grid, to the units of the next grid, and adds the
 *  part's own displacement at cell + fraction. */
GPUREG_LARGE_REAL_FUNCTION void
DisplaceByPart(
  const ChainPart * part, GPUREG_GLOBAL const float4 * vectors, const int * cell, const real * fraction, real * d)
{
  CarryDisplacement(part, d);
  if (part->kind == ChainPartIsField)
  {
    AddFieldDisplacement(part, vectors, cell, fraction, d);
  }
  else if (part->order == 3)
  {
    AddSplineDisplacement(3, part, vectors, cell, fraction, d);
  }
  else
  {
    AddSplineDisplacement(part->order, part, vectors, cell, fraction, d);
  }
}

/** Computes the total displacement by all parts, in the input's voxels: what is to be added to the affine map of an index of the output.
 *  \param d the displacement before the first part, in the voxels of its grid, where none is 0 */
GPUREG_REAL_FUNCTION void
DisplaceByChain(int                             partCount,
                GPUREG_GLOBAL const ChainPart * parts,
                GPUREG_GLOBAL const float4 *    vectors,
                int                             x,
                int                             y,
                int                             z,
                real *                          d)
{
  for (int k = 0; k < partCount; ++k)
  {
    const ChainPart part = parts[k];
    i64             position[3];
    int             cell[3];
    real            fraction[3];
    if (part.kind == ChainPartIsOfOutput)
    {
      /* Nothing is displaced before the first part. */
      AddScaledVector((real)1.0f, vectors[VectorOffset(&part, x, y, z)], d);
      continue;
    }
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRow(&part.toGrid, r, x, y, z);
    }
    LocateMoved(position, d, cell, fraction);
    DisplaceByPart(&part, vectors, cell, fraction, d);
  }
}

enum
{
  /** The order of the B-splines that are followed row by row. */
  RowSplineOrder = 3,
  /** The fewest voxels from one control point to the next. */
  RowSplineSpacing = 2
};

/** Returns 1 if a part is a cubic B-spline whose rows are parallel to the output's: then one row of the output needs one row of columns
 *  of control points, which are summed once for the whole row. Returns 0 for a grid about as fine as the output, which would have as
 *  many columns as voxels. */
GPUREG_FUNCTION int
FollowsRows(const ChainPart * part)
{
  const i64 step = part->toGrid.row[0] < 0 ? -part->toGrid.row[0] : part->toGrid.row[0];
  return part->kind == ChainPartIsSpline && part->order == RowSplineOrder && part->toGrid.row[4] == 0 &&
         part->toGrid.row[8] == 0 && step * RowSplineSpacing <= (i64)1 << 32;
}

/** Finds the columns of control points that may have weights between x and lastX in a row of such a part. Returns their number; 0 or
 *  less if there are none. */
GPUREG_FUNCTION int
LocateColumnsOfRow(const ChainPart * part, int x, int lastX, int y, int z, int * firstColumn)
{
  const int one = IntegerPart(ApplyFixedRow(&part->toGrid, 0, x, y, z));
  const int other = IntegerPart(ApplyFixedRow(&part->toGrid, 0, lastX, y, z));
  const int least = one < other ? one : other;
  const int most = one < other ? other : one;
  /* An end of the valid region belongs to the cell inside of it: LocateControlPoints(). */
  const int firstCell = RowSplineOrder / 2;
  const int lastCell = part->size[0] - (RowSplineOrder + 1) / 2 - 1;
  const int first = (least < lastCell ? least : lastCell) - RowSplineOrder / 2;
  const int last = (most > firstCell ? most : firstCell) + RowSplineOrder - RowSplineOrder / 2;
  *firstColumn = first < 0 ? 0 : first;
  return (last < part->size[0] ? last : part->size[0] - 1) - *firstColumn + 1;
}

/** Computes the sums of every stride-th column of control points in a row of such a part, float[3] each; 0 outside of the valid region. */
GPUREG_REAL_FUNCTION void
SumColumnsOfRow(const ChainPart *            part,
                GPUREG_GLOBAL const float4 * vectors,
                int                          firstColumn,
                int                          columnCount,
                int                          begin,
                int                          stride,
                int                          y,
                int                          z,
                GPUREG_LOCAL real *          columns)
{
  int  cell[3], first[3];
  real fraction[3], wy[RowSplineOrder + 1], wz[RowSplineOrder + 1];
  for (int r = 1; r < 3; ++r)
  {
    const i64 position = ApplyFixedRow(&part->toGrid, r, 0, y, z);
    cell[r] = IntegerPart(position);
    ComputeFraction(position, fraction + r);
  }
  if (!LocateControlPointColumns(RowSplineOrder, part, cell, fraction, first, wy, wz))
  {
    for (int column = begin; column < columnCount; column += stride)
    {
      columns[3 * column] = 0.0f;
      columns[3 * column + 1] = 0.0f;
      columns[3 * column + 2] = 0.0f;
    }
    return;
  }
  GPUREG_GLOBAL const float4 * corner = vectors + VectorOffset(part, firstColumn, first[1], first[2]);
  for (int column = begin; column < columnCount; column += stride)
  {
    real sum[3];
    SumControlPointColumn(RowSplineOrder, part, corner + column, wy, wz, sum);
    columns[3 * column] = sum[0];
    columns[3 * column + 1] = sum[1];
    columns[3 * column + 2] = sum[2];
  }
}

/** Adds the displacement by such a part at a position along its rows to d, from the sums of the columns from firstColumn on. */
GPUREG_REAL_FUNCTION void
AddFromColumns(const ChainPart * part, GPUREG_LOCAL const real * columns, int firstColumn, i64 position, real * d)
{
  real fraction, t, wx[RowSplineOrder + 1];
  int  first;
  ComputeFraction(position, &fraction);
  if (LocateControlPoints(RowSplineOrder, part, 0, IntegerPart(position), fraction, &first, &t))
  {
    GPUREG_LOCAL const real * column = columns + 3 * (first - firstColumn);
    SplineWeights(RowSplineOrder, t, wx);
    for (int a = 0; a <= RowSplineOrder; ++a)
    {
      for (int r = 0; r < 3; ++r)
      {
        d[r] = MultiplyAdd(wx[a], column[3 * a + r], d[r]);
      }
    }
  }
}

GPUREG_NAMESPACE_END

#endif
