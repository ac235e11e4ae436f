// SPDX-License-Identifier: Apache-2.0
// Fields of displacements on a grid of voxels: how they lie in memory, and how they are read between voxels.
//
// A field is real [z][y][x][3]: a voxel's vector, in mm, along the physical axes, is interleaved, as ITK keeps it and as the metrics
// write their forces. In two dimensions the third component is 0. The reasons, for volumes that do not fit into a cache:
// - Bytes. An operation is bound by what it reads and writes: 12 bytes a vector. A float4 takes 16, a third more time and memory;
//   three arrays, one a component, take 12 as well.
// - Reads between voxels. Interleaved, the 8 vectors around a place lie in 4 runs of 24 bytes, of 1 or 2 sectors of 32 bytes each;
//   in three arrays in 12 runs of 8 bytes. Neighbouring threads share them either way. A float4 needs a third of the load instructions,
//   and would win only where everything is in a cache.
// - Copies. ITK's fields, the metrics' forces and files have this layout: nothing is turned around on the way in or out.
// An operation that does not mix components (sums, scaling, smoothing) takes one element, not one voxel, an item: neighbours read side by
// side. Vectors are in mm and not in voxels, since ITK's are: composing multiplies by a 3 × 3 matrix, which costs nothing beside the reads.
// Positions are kept as a voxel and a fraction of it, so that rounding is of the displacement's size and not of the index'.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldGrid_h
#define gpureg_kernels_FieldGrid_h

GPUREG_NAMESPACE_BEGIN

/** The grid of a field. 32-bit members only, so that every compiler lays it out identically. */
typedef struct FieldGrid
{
  int size[3];   /* voxels along x, y and z; one along z in two dimensions */
  int dimension; /* 2 or 3 */
  int upperBorder
    [3]; /* the plane along each axis that is the border, besides plane 0: size - 1, or where ITK looks for it */
  float toIndex[9];    /* G: from mm to voxels, by rows */
  float perSpacing[3]; /* 1/spacing */
  int   firstPlane;    /* the plane of item 0: above 0 where items are a slab; only ComputeVoxelIndex() reads it */
} FieldGrid;

GPUREG_FUNCTION i64
CountFieldVoxels(const FieldGrid * grid)
{
  return (i64)grid->size[0] * grid->size[1] * grid->size[2];
}

/** Splits the number of an element of an array of width times height a plane into its indices. Divisions of 32 bits take a fraction of the
 *  time of those of 64. */
GPUREG_FUNCTION void
SplitNumber(i64 number, int width, int height, int * index)
{
  if (number >> 32 == 0)
  {
    const u32 row = (u32)number / (u32)width;
    const u32 plane = row / (u32)height;
    index[0] = (int)((u32)number - row * (u32)width);
    index[1] = (int)(row - plane * (u32)height);
    index[2] = (int)plane;
  }
  else
  {
    const i64 row = number / width;
    const i64 plane = row / height;
    index[0] = (int)(number - row * width);
    index[1] = (int)(row - plane * height);
    index[2] = (int)plane;
  }
}

/** Splits an item's number into the indices of its voxel. */
GPUREG_FUNCTION void
ComputeVoxelIndex(const FieldGrid * grid, i64 item, int * index)
{
  SplitNumber(item, grid->size[0], grid->size[1], index);
  index[2] += grid->firstPlane;
}

/** Says whether a voxel belongs to the border that smoothing and inversion set to 0. */
GPUREG_FUNCTION int
IsOnFieldBorder(const FieldGrid * grid, const int * index)
{
  int isOnBorder = 0;
  for (int d = 0; d < 3; ++d)
  {
    isOnBorder |= d < grid->dimension && (index[d] == 0 || index[d] == grid->upperBorder[d]);
  }
  return isOnBorder;
}

/** Returns row r of G·vector: the vector in voxels along the grid's axis r. */
GPUREG_REAL_FUNCTION real
ToVoxels(const FieldGrid * grid, int r, const real * vector)
{
  const real along0 = (real)grid->toIndex[3 * r] * vector[0];
  const real along1 = MultiplyAdd((real)grid->toIndex[3 * r + 1], vector[1], along0);
  return MultiplyAdd((real)grid->toIndex[3 * r + 2], vector[2], along1);
}

/** Says whether a position lies in the grid's buffer as itk::ImageFunction::IsInsideBuffer() has it: from half a voxel before the first
 *  voxel's centre, which belongs to it, up to half a voxel behind the last one's, which does not. */
GPUREG_REAL_FUNCTION int
IsInsideGrid(const FieldGrid * grid, const int * cell, const real * fraction)
{
  int isInside = 1;
  for (int d = 0; d < 3; ++d)
  {
    const int last = grid->size[d] - 1;
    const int isBehindStart = cell[d] >= 0 || (cell[d] == -1 && fraction[d] >= 0.5f);
    const int isBeforeEnd = cell[d] < last || (cell[d] == last && fraction[d] < 0.5f);
    isInside &= isBehindStart && isBeforeEnd;
  }
  return isInside;
}

/** Moves from a voxel by a vector. Says whether that leads to a place in the grid. */
GPUREG_REAL_FUNCTION int
MoveFromVoxel(const FieldGrid * grid, const int * index, const real * vector, int * cell, real * fraction)
{
  for (int d = 0; d < 3; ++d)
  {
    cell[d] = index[d];
    fraction[d] = 0.0f;
    MovePosition(ToVoxels(grid, d, vector), cell + d, fraction + d);
  }
  return IsInsideGrid(grid, cell, fraction);
}

/** Moves a place outside of the grid to the nearest one inside, so that a field's edge continues. */
GPUREG_REAL_FUNCTION void
MoveToEdge(const FieldGrid * grid, int * cell, real * fraction)
{
  for (int d = 0; d < 3; ++d)
  {
    const int last = grid->size[d] - 1;
    if (cell[d] < 0 || cell[d] >= last)
    {
      cell[d] = cell[d] < 0 ? 0 : last;
      fraction[d] = 0.0f;
    }
  }
}

/** The 8 vectors around a place. */
typedef struct FieldCorners
{
  i64 first;   /* element of the lowest one */
  i64 step[3]; /* elements to the next one along x, y and z; 0 where there is none, so that the edge continues */
} FieldCorners;

GPUREG_FUNCTION FieldCorners
LocateFieldCorners(const FieldGrid * grid, const int * cell)
{
  FieldCorners corners;
  i64          stride = 3;
  corners.first = 0;
  for (int d = 0; d < 3; ++d)
  {
    const int last = grid->size[d] - 1;
    corners.first += (cell[d] < 0 ? 0 : cell[d]) * stride;
    corners.step[d] = cell[d] >= 0 && cell[d] < last ? stride : 0;
    stride *= grid->size[d];
  }
  return corners;
}

/** Interpolates linearly between two numbers. */
GPUREG_REAL_FUNCTION real
MixNumbers(real a, real b, real fraction)
{
  return MultiplyAdd(fraction, b - a, a);
}

/** Interpolates a field at a place inside, as itk::VectorLinearInterpolateImageFunction. */
GPUREG_REAL_FUNCTION void
InterpolateField(
  const FieldGrid * grid, GPUREG_GLOBAL const real * field, const int * cell, const real * fraction, real * vector)
{
  const FieldCorners         corners = LocateFieldCorners(grid, cell);
  const i64                  x = corners.step[0];
  const i64                  y = corners.step[1];
  GPUREG_GLOBAL const real * p = field + corners.first;
  GPUREG_GLOBAL const real * q = p + corners.step[2];
  for (int c = 0; c < 3; ++c, ++p, ++q)
  {
    const real p0 = MixNumbers(p[0], p[x], fraction[0]);
    const real p1 = MixNumbers(p[y], p[y + x], fraction[0]);
    const real q0 = MixNumbers(q[0], q[x], fraction[0]);
    const real q1 = MixNumbers(q[y], q[y + x], fraction[0]);
    vector[c] = MixNumbers(MixNumbers(p0, p1, fraction[1]), MixNumbers(q0, q1, fraction[1]), fraction[2]);
  }
}

/** Interpolates a field at a place inside as InterpolateField() does, and computes the derivatives of the interpolated vector by steps of
 *  the grid: slopes[3·k + c] is component c's derivative along axis k. */
GPUREG_REAL_FUNCTION void
InterpolateFieldAndSlopes(const FieldGrid *          grid,
                          GPUREG_GLOBAL const real * field,
                          const int *                cell,
                          const real *               fraction,
                          real *                     vector,
                          real *                     slopes)
{
  const FieldCorners         corners = LocateFieldCorners(grid, cell);
  const i64                  x = corners.step[0];
  const i64                  y = corners.step[1];
  GPUREG_GLOBAL const real * p = field + corners.first;
  GPUREG_GLOBAL const real * q = p + corners.step[2];
  for (int c = 0; c < 3; ++c, ++p, ++q)
  {
    const real p0 = MixNumbers(p[0], p[x], fraction[0]);
    const real p1 = MixNumbers(p[y], p[y + x], fraction[0]);
    const real q0 = MixNumbers(q[0], q[x], fraction[0]);
    const real q1 = MixNumbers(q[y], q[y + x], fraction[0]);
    const real nearPlane = MixNumbers(p0, p1, fraction[1]);
    const real farPlane = MixNumbers(q0, q1, fraction[1]);
    const real nearAlongX = MixNumbers(p[x] - p[0], p[y + x] - p[y], fraction[1]);
    const real farAlongX = MixNumbers(q[x] - q[0], q[y + x] - q[y], fraction[1]);
    vector[c] = MixNumbers(nearPlane, farPlane, fraction[2]);
    slopes[c] = MixNumbers(nearAlongX, farAlongX, fraction[2]);
    slopes[3 + c] = MixNumbers(p1 - p0, q1 - q0, fraction[2]);
    slopes[6 + c] = farPlane - nearPlane;
  }
}

/** Converts derivatives by steps of the grid to derivatives by mm: ∂u_r/∂x_c, by rows. slopes: see InterpolateFieldAndSlopes(). */
GPUREG_REAL_FUNCTION void
ComputeFieldGradient(const FieldGrid * grid, const real * slopes, real * gradient)
{
  for (int r = 0; r < 3; ++r)
  {
    for (int c = 0; c < 3; ++c)
    {
      const real along0 = (real)grid->toIndex[c] * slopes[r];
      const real along1 = MultiplyAdd((real)grid->toIndex[3 + c], slopes[3 + r], along0);
      gradient[3 * r + c] = MultiplyAdd((real)grid->toIndex[6 + c], slopes[6 + r], along1);
    }
  }
}

GPUREG_NAMESPACE_END

#endif
