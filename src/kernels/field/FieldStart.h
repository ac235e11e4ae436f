// SPDX-License-Identifier: Apache-2.0
// Formulas of a chain of transforms that follows a displacement field u: the point to which the chain maps x + u(x), and the force on u(x) that
// a force at that point causes.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldStart_h
#define gpureg_kernels_FieldStart_h

GPUREG_NAMESPACE_BEGIN

/** Says how a chain follows the fields of a grid. 32-bit members only, so that every compiler lays it out identically. */
typedef struct FieldStart
{
  FieldGrid grid;
  float     toFirst[9]; /* from mm to voxels of the first part's grid, by rows */
  int       partCount;
} FieldStart;

/** Computes toFirst·u of a voxel's vector u: the displacement in the first part's grid. */
GPUREG_FUNCTION void
EnterChain(const FieldStart * a, GPUREG_GLOBAL const float * field, i64 item, float * d)
{
  for (int r = 0; r < 3; ++r)
  {
    d[r] = a->toFirst[3 * r] * field[3 * item];
    d[r] = MultiplyAdd(a->toFirst[3 * r + 1], field[3 * item + 1], d[r]);
    d[r] = MultiplyAdd(a->toFirst[3 * r + 2], field[3 * item + 2], d[r]);
  }
}

/** Writes the displacement of a voxel by its vector and the chain, beside the chain's affine maps: the chain leads x + u(x) to A·x + moved(x),
 *  where A is the product of these maps. The parts' last map leads to points, so that moved is in mm. Moves 24 bytes a voxel, and what the
 *  parts' vectors take. */
GPUREG_FUNCTION void
MoveByStart(const FieldStart *              a,
            GPUREG_GLOBAL const float *     field,
            GPUREG_GLOBAL const ChainPart * parts,
            GPUREG_GLOBAL const float4 *    vectors,
            GPUREG_GLOBAL float *           moved,
            i64                             item)
{
  int   index[3];
  float d[3];
  ComputeVoxelIndex(&a->grid, item, index);
  EnterChain(a, field, item, d);
  DisplaceByChain(a->partCount, parts, vectors, index[0], index[1], index[2], d);
  for (int r = 0; r < 3; ++r)
  {
    moved[3 * item + r] = d[r];
  }
}

GPUREG_ITEM_KERNEL(MoveByStart, 1 << 10, "applying the initial transform");

/** Multiplies a matrix, 3×3 by rows, by another one from the left. */
GPUREG_FUNCTION void
MultiplyFromLeft(const float * left, float * matrix)
{
  for (int c = 0; c < 3; ++c)
  {
    const float column[3] = { matrix[c], matrix[3 + c], matrix[6 + c] };
    for (int r = 0; r < 3; ++r)
    {
      matrix[3 * r + c] =
        MultiplyAdd(left[3 * r + 2], column[2], MultiplyAdd(left[3 * r + 1], column[1], left[3 * r] * column[0]));
    }
  }
}

/** Turns a force, the derivative by the place that the chain leads a voxel to, into that by the voxel's vector: Jᵀ·force, where J is the
 *  derivative of the chain at x + u(x). Moves 36 bytes a voxel, and what the parts' vectors take. */
GPUREG_FUNCTION void
PullForceThroughStart(const FieldStart *              a,
                      GPUREG_GLOBAL const float *     field,
                      GPUREG_GLOBAL const ChainPart * parts,
                      GPUREG_GLOBAL const float4 *    vectors,
                      GPUREG_GLOBAL float *           forces,
                      i64                             item)
{
  int         index[3];
  float       d[3];
  float       jacobian[9];
  const float force[3] = { forces[3 * item], forces[3 * item + 1], forces[3 * item + 2] };
  ComputeVoxelIndex(&a->grid, item, index);
  EnterChain(a, field, item, d);
  for (int n = 0; n < 9; ++n)
  {
    jacobian[n] = a->toFirst[n];
  }
  for (int k = 0; k < a->partCount; ++k)
  {
    const ChainPart part = parts[k];
    i64             position[3];
    int             cell[3];
    float           fraction[3];
    float           slopes[9];
    for (int r = 0; r < 3; ++r)
    {
      position[r] = ApplyFixedRow(&part.toGrid, r, index[0], index[1], index[2]);
    }
    LocateMoved(position, d, cell, fraction);
    for (int n = 0; n < 9; ++n)
    {
      slopes[n] = part.carry[n];
    }
    if (part.kind == ChainPartIsField)
    {
      AddFieldSlopes(&part, vectors, cell, fraction, slopes);
    }
    else
    {
      AddSplineSlopes(&part, vectors, cell, fraction, slopes);
    }
    MultiplyFromLeft(slopes, jacobian);
    DisplaceByPart(&part, vectors, cell, fraction, d);
  }
  for (int c = 0; c < 3; ++c)
  {
    forces[3 * item + c] =
      MultiplyAdd(jacobian[6 + c], force[2], MultiplyAdd(jacobian[3 + c], force[1], jacobian[c] * force[0]));
  }
}

GPUREG_ITEM_KERNEL(PullForceThroughStart, 1 << 10, "pulling forces through the initial transform");

GPUREG_NAMESPACE_END

#endif
