// SPDX-License-Identifier: Apache-2.0
// Formulas of a chain of transforms that follows a displacement field u: the point to which the chain maps x + u(x), the force on u(x) that
// a force at that point causes, and the field that undoes the chain.
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
EnterChain(const FieldStart * a, const float * vector, float * d)
{
  for (int r = 0; r < 3; ++r)
  {
    d[r] = a->toFirst[3 * r] * vector[0];
    d[r] = MultiplyAdd(a->toFirst[3 * r + 1], vector[1], d[r]);
    d[r] = MultiplyAdd(a->toFirst[3 * r + 2], vector[2], d[r]);
  }
}

/** Computes the displacement of a voxel, x, by its vector u and the chain, beside the chain's affine maps: the chain leads x + u to
 *  A·x + moved, where A is the product of these maps. The parts' last map leads to points, so that moved is in mm. */
GPUREG_FUNCTION void
MoveVector(const FieldStart *              a,
           GPUREG_GLOBAL const ChainPart * parts,
           GPUREG_GLOBAL const float4 *    vectors,
           const int *                     index,
           const float *                   vector,
           float *                         moved)
{
  EnterChain(a, vector, moved);
  DisplaceByChain(a->partCount, parts, vectors, index[0], index[1], index[2], moved);
}

/** Writes what MoveVector() computes for a voxel and its vector. Moves 24 bytes a voxel, and what the parts' vectors take. */
GPUREG_FUNCTION void
MoveByStart(const FieldStart *              a,
            GPUREG_GLOBAL const float *     field,
            GPUREG_GLOBAL const ChainPart * parts,
            GPUREG_GLOBAL const float4 *    vectors,
            GPUREG_GLOBAL float *           moved,
            i64                             item)
{
  int         index[3];
  float       d[3];
  const float vector[3] = { field[3 * item], field[3 * item + 1], field[3 * item + 2] };
  ComputeVoxelIndex(&a->grid, item, index);
  MoveVector(a, parts, vectors, index, vector, d);
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

/** Computes what MoveVector() does, and the derivative of that by the vector, 3×3 by rows. */
GPUREG_FUNCTION void
MoveWithSlopes(const FieldStart *              a,
               GPUREG_GLOBAL const ChainPart * parts,
               GPUREG_GLOBAL const float4 *    vectors,
               const int *                     index,
               const float *                   vector,
               float *                         moved,
               float *                         jacobian)
{
  EnterChain(a, vector, moved);
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
    LocateMoved(position, moved, cell, fraction);
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
    DisplaceByPart(&part, vectors, cell, fraction, moved);
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
  float       moved[3];
  float       jacobian[9];
  const float vector[3] = { field[3 * item], field[3 * item + 1], field[3 * item + 2] };
  const float force[3] = { forces[3 * item], forces[3 * item + 1], forces[3 * item + 2] };
  ComputeVoxelIndex(&a->grid, item, index);
  MoveWithSlopes(a, parts, vectors, index, vector, moved, jacobian);
  for (int c = 0; c < 3; ++c)
  {
    forces[3 * item + c] =
      MultiplyAdd(jacobian[6 + c], force[2], MultiplyAdd(jacobian[3 + c], force[1], jacobian[c] * force[0]));
  }
}

GPUREG_ITEM_KERNEL(PullForceThroughStart, 1 << 10, "pulling forces through the initial transform");

/** Takes Newton's steps from a voxel's vector w on, until the chain undoes w: until it leads x + w(x) to x. The chain's affine maps
 *  together are 1. A step is by the derivative of a field, that of the chain's displacements at the grid's voxels, and, from where this
 *  does not halve the error on, by the chain's own, which takes longer. It ends where a step does not make the error smaller: a vector that
 *  is almost right has no such step unless the chain folds. w becomes the vector with the smallest error of all steps, but stays as it is
 *  where it leads to the grid's edge and no step makes its error ten times the rule's or less: nothing is mapped to that voxel from inside,
 *  where steps would lead to smaller errors all the same. Moves 36 bytes a voxel, and what the parts' vectors take. */
GPUREG_FUNCTION void
RefineInverseOfStart(const FieldStart *              a,
                     const NewtonRule *              rule,
                     GPUREG_GLOBAL const float *     field,
                     GPUREG_GLOBAL float *           inverse,
                     GPUREG_GLOBAL const ChainPart * parts,
                     GPUREG_GLOBAL const float4 *    vectors,
                     i64                             item)
{
  int         index[3];
  float       error[3], jacobian[9], step[3], unused[3];
  const float before[3] = { inverse[3 * item], inverse[3 * item + 1], inverse[3 * item + 2] };
  float       best[3] = { before[0], before[1], before[2] };
  int         failures = 0; /* 1: the chain's own derivative is taken */
  ComputeVoxelIndex(&a->grid, item, index);
  MoveVector(a, parts, vectors, index, best, error);
  float least = MeasureAlongAxes(&a->grid, error);
  for (int n = 1; n < rule->readings && least > rule->error && failures < 2; ++n)
  {
    if (failures == 0)
    {
      ComputeInverseErrorAndJacobian(&a->grid, rule->continues, index, field, best, unused, jacobian);
    }
    else
    {
      MoveWithSlopes(a, parts, vectors, index, best, unused, jacobian);
    }
    ComputeNewtonStep(jacobian, error, step);
    const float tried[3] = { best[0] + step[0], best[1] + step[1], best[2] + step[2] };
    float       left[3];
    MoveVector(a, parts, vectors, index, tried, left);
    const float found = MeasureAlongAxes(&a->grid, left);
    if (found < (failures == 0 ? 0.5f : 1.0f) * least)
    {
      least = found;
      for (int r = 0; r < 3; ++r)
      {
        best[r] = tried[r];
        error[r] = left[r];
      }
    }
    else
    {
      ++failures;
    }
  }
  if (least <= 10.0f * rule->error || !LeadsToEdge(&a->grid, index, before))
  {
    for (int r = 0; r < 3; ++r)
    {
      inverse[3 * item + r] = best[r];
    }
  }
}

GPUREG_ITEM_KERNEL(RefineInverseOfStart, 1 << 10, "inverting a transform");

/** Writes the numbers of InverseNumbers for one of so many voxels that begin at the first one: how well the chain, whose affine maps
 *  together are 1, undoes an inverse. smallError, tolerance: see JudgeInverse(). */
GPUREG_FUNCTION void
DescribeInverseOfStart(const FieldStart *              a,
                       float                           smallError,
                       float                           tolerance,
                       i64                             first,
                       i64                             voxels,
                       GPUREG_GLOBAL const float *     inverse,
                       GPUREG_GLOBAL const ChainPart * parts,
                       GPUREG_GLOBAL const float4 *    vectors,
                       GPUREG_GLOBAL float *           numbers,
                       i64                             item)
{
  int                         index[3];
  float                       error[3];
  GPUREG_GLOBAL const float * from = inverse + 3 * (first + item);
  const float                 vector[3] = { from[0], from[1], from[2] };
  ComputeVoxelIndex(&a->grid, first + item, index);
  MoveVector(a, parts, vectors, index, vector, error);
  JudgeInverse(
    &a->grid, smallError, tolerance, voxels, index, vector, MeasureAlongAxes(&a->grid, error), numbers, item);
}

GPUREG_ITEM_KERNEL(DescribeInverseOfStart, 1 << 10, "measuring an inverse");

GPUREG_NAMESPACE_END

#endif
