// SPDX-License-Identifier: Apache-2.0
// Grids of vectors before a linear transform L that is optimized, such as a displacement field or a B-spline that is not changed. They move
// a sample of virtual index v from A·v to A·v + u = A·w, with w = v + A⁻¹·u. The sums of ForceSums.h are then taken about w, since L's
// Jacobian is affine in the point to which L is applied.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_PreTransformMoves_h
#define gpureg_kernels_PreTransformMoves_h

GPUREG_NAMESPACE_BEGIN

/** Arguments of the fixed pre-transforms. 32-bit members only, so that every compiler lays the struct out identically. */
typedef struct PreTransformArguments
{
  VolumeShape shape;        /* of the virtual grid */
  float       toVirtual[9]; /* A⁻¹, by rows: mm -> virtual index */
  float       centre[3];    /* the virtual index to which the sums f x refer */
  int         arePoints;    /* samples are points, not the grid's voxels */
  int         areMoved;     /* 0: forces are summed about the samples' own places, and there are no displacements */
  int         partCount;
  int         groupCount; /* number of groups that sum forces */
} PreTransformArguments;

/** Computes a sample's displacement u in mm. The parts' last map leads to points. points: i64[3] for each sample, not read for voxels;
 *  displacement: float[3] for each sample. */
GPUREG_FUNCTION void
MoveByPreTransforms(const PreTransformArguments *   a,
                    GPUREG_GLOBAL const i64 *       points,
                    GPUREG_GLOBAL const ChainPart * parts,
                    GPUREG_GLOBAL const float4 *    vectors,
                    GPUREG_GLOBAL float *           displacement,
                    i64                             sample)
{
  i64   virtualPosition[3];
  float u[3] = { 0.0f, 0.0f, 0.0f };
  ComputeSamplePosition(&a->shape, a->arePoints, points, sample, virtualPosition);
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
  for (int r = 0; r < 3; ++r)
  {
    displacement[3 * sample + r] = u[r];
  }
}

GPUREG_ITEM_KERNEL(MoveByPreTransforms, 128, "moving samples by grids");

/** Computes a sample's displacement with vectors in fixed point. fixedPointMoves: i64[3] for each sample, in units of 2^-32 mm;
 *  displacement: the same rounded to floats. */
GPUREG_FUNCTION void
MoveByPreTransformsInFixedPoint(const PreTransformArguments *   a,
                                GPUREG_GLOBAL const i64 *       points,
                                GPUREG_GLOBAL const ChainPart * parts,
                                GPUREG_GLOBAL const i64 *       vectors,
                                GPUREG_GLOBAL i64 *             fixedPointMoves,
                                GPUREG_GLOBAL float *           displacement,
                                i64                             sample)
{
  i64 virtualPosition[3];
  i64 u[3] = { 0, 0, 0 };
  ComputeSamplePosition(&a->shape, a->arePoints, points, sample, virtualPosition);
  for (int k = 0; k < a->partCount; ++k)
  {
    const ChainPart part = parts[k];
    i64             position[3];
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRowAt(&part.toGrid, r, virtualPosition) + u[r];
    }
    DisplaceByPartInFixedPoint(&part, vectors, position, u);
  }
  for (int r = 0; r < 3; ++r)
  {
    fixedPointMoves[3 * sample + r] = u[r];
    displacement[3 * sample + r] = (float)u[r] * GPUREG_FIXED_UNIT;
  }
}

GPUREG_ITEM_KERNEL(MoveByPreTransformsInFixedPoint, 128, "moving samples by grids in integers");

/** The matrix from displacements in mm to positions in the grid, or the image, behind the transform that is optimised: by rows, in units of
 *  2^-32. */
typedef struct PreTransformCarry
{
  i64 entries[9];
} PreTransformCarry;

/** Writes a sample's moves = carry·fixedPointMoves, i64[3] for each sample; see FixedPointGrid.h. */
GPUREG_FUNCTION void
CarryByPreTransforms(const PreTransformCarry * carry,
                     GPUREG_GLOBAL const i64 * fixedPointMoves,
                     GPUREG_GLOBAL i64 *       moves,
                     i64                       sample)
{
  i64 moved[3] = { fixedPointMoves[3 * sample], fixedPointMoves[3 * sample + 1], fixedPointMoves[3 * sample + 2] };
  CarryInFixedPoint(carry->entries, moved);
  for (int r = 0; r < 3; ++r)
  {
    moves[3 * sample + r] = moved[r];
  }
}

GPUREG_ITEM_KERNEL(CarryByPreTransforms, 128, "carrying displacements");

/** Computes w - centre of a sample, or v - centre if samples are not moved. */
GPUREG_FUNCTION void
ComputePreTransformPlace(const PreTransformArguments * a,
                         GPUREG_GLOBAL const i64 *     points,
                         GPUREG_GLOBAL const float *   displacement,
                         i64                           sample,
                         float *                       place)
{
  i64 position[3];
  ComputeSamplePosition(&a->shape, a->arePoints, points, sample, position);
  for (int r = 0; r < 3; ++r)
  {
    place[r] = (float)(position[r] - ((i64)a->centre[r] << 32)) * GPUREG_FIXED_UNIT;
    for (int c = 0; a->areMoved && c < 3; ++c)
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
