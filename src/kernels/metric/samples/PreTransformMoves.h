// SPDX-License-Identifier: Apache-2.0
// Grids of vectors before a linear transform L that is optimized, such as a displacement field or a B-spline that is not changed. They move
// a sample of virtual index v from A·v to A·v + u = A·w, with w = v + A⁻¹·u. The sums of ForceSums.h are then taken about w, since L's
// Jacobian is affine in the point to which L is applied.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_PreTransformMoves_h
#define gpureg_kernels_PreTransformMoves_h

GPUREG_NAMESPACE_BEGIN

/** Arguments of the fixed pre-transforms. 32-bit members only, so that every compiler lays the struct out alike. */
typedef struct PreTransformArguments
{
  VolumeShape shape;        /* of the virtual grid */
  float       toVirtual[9]; /* A⁻¹, by rows: mm -> virtual index */
  float       centre[3];    /* the virtual index to which the sums f x refer */
  int         arePoints;    /* samples are points, not the grid's voxels */
  int         partCount;
  int         groupCount; /* number of groups that sum forces */
} PreTransformArguments;

/** Computes u of a sample, in mm. The last part's carry leads to points. */
GPUREG_FUNCTION void
MoveByPreTransforms(const PreTransformArguments *   a,
                    GPUREG_GLOBAL const i64 *       points,
                    GPUREG_GLOBAL const ChainPart * parts,
                    GPUREG_GLOBAL const float4 *    vectors,
                    i64                             sample,
                    float *                         u)
{
  i64 virtualPosition[3];
  FindSamplePosition(&a->shape, a->arePoints, points, sample, virtualPosition);
  u[0] = 0.0f;
  u[1] = 0.0f;
  u[2] = 0.0f;
  for (int k = 0; k < a->partCount; ++k)
  {
    const ChainPart part = parts[k];
    i64             position[3];
    int             cell[3];
    float           fraction[3];
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRowAt(&part.toGrid, r, virtualPosition);
    }
    LocateMoved(position, u, cell, fraction);
    DisplaceByPart(&part, vectors, cell, fraction, u);
  }
}

/** Computes u of a sample from fixed-point vectors, in units of 2^-32 mm. */
GPUREG_FUNCTION void
MoveByPreTransformsPrecisely(const PreTransformArguments *   a,
                             GPUREG_GLOBAL const i64 *       points,
                             GPUREG_GLOBAL const ChainPart * parts,
                             GPUREG_GLOBAL const i64 *       vectors,
                             i64                             sample,
                             i64 *                           u)
{
  i64 virtualPosition[3];
  FindSamplePosition(&a->shape, a->arePoints, points, sample, virtualPosition);
  u[0] = 0;
  u[1] = 0;
  u[2] = 0;
  for (int k = 0; k < a->partCount; ++k)
  {
    const ChainPart part = parts[k];
    i64             position[3];
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRowAt(&part.toGrid, r, virtualPosition) + u[r];
    }
    DisplaceByPartPrecisely(&part, vectors, position, u);
  }
}

/** The matrix from displacements in mm to the units of the grid, or the image, behind the optimized transform: by rows, in units of
 *  2^-32. */
typedef struct PreTransformCarry
{
  i64 entries[9];
} PreTransformCarry;

/** Rounds a fixed-point displacement to floats. */
GPUREG_FUNCTION void
RoundPreTransformMove(const i64 * u, float * rounded)
{
  for (int r = 0; r < 3; ++r)
  {
    rounded[r] = (float)u[r] * GPUREG_FIXED_UNIT;
  }
}

/** Computes w - centre of a sample. */
GPUREG_FUNCTION void
FindPreTransformPlace(const PreTransformArguments * a,
                      GPUREG_GLOBAL const i64 *     points,
                      GPUREG_GLOBAL const float *   displacement,
                      i64                           sample,
                      float *                       place)
{
  i64 position[3];
  FindSamplePosition(&a->shape, a->arePoints, points, sample, position);
  for (int r = 0; r < 3; ++r)
  {
    place[r] = (float)(position[r] - ((i64)a->centre[r] << 32)) * GPUREG_FIXED_UNIT;
    for (int c = 0; c < 3; ++c)
    {
      place[r] = MultiplyAdd(a->toVirtual[3 * r + c], displacement[3 * sample + c], place[r]);
    }
  }
}

/** Returns 1 if a sample has a force; the displacement of a sample that is not valid may be anything. */
GPUREG_FUNCTION int
HasForce(GPUREG_GLOBAL const float * forces, i64 sample)
{
  return forces[3 * sample] != 0.0f || forces[3 * sample + 1] != 0.0f || forces[3 * sample + 2] != 0.0f;
}

GPUREG_NAMESPACE_END

#endif
