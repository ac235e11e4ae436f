// SPDX-License-Identifier: Apache-2.0
// One deformation after another, and a field on another grid.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldComposition_h
#define gpureg_kernels_FieldComposition_h

GPUREG_NAMESPACE_BEGIN

/** Places of the factors of two fields that are composed: floats, kept on the device, since a step's length follows from a sum there. */
enum
{
  FactorOfOuter = 0,
  FactorOfInner = 1,
  CompositionFactors = 2
};

/** Composes two fields at a voxel: composed(x) = inner(x) + outer(x + inner(x)), both times their factors. outer counts as 0 outside of the
 *  grid, as in itk::ComposeDisplacementFieldsImageFilter, whose warping field is inner. composed may be inner, but not outer.
 *  Moves 36 bytes a voxel, of floats: inner, outer once, since neighbours share it, and composed. */
GPUREG_REAL_FUNCTION void
ComposeFields(const FieldGrid *           grid,
              GPUREG_GLOBAL const float * factors,
              GPUREG_GLOBAL const real *  outer,
              GPUREG_GLOBAL const real *  inner,
              GPUREG_GLOBAL real *        composed,
              i64                         item)
{
  int  index[3], cell[3];
  real vector[3], moved[3], fraction[3];
  ComputeVoxelIndex(grid, item, index);
  for (int r = 0; r < 3; ++r)
  {
    vector[r] = (real)factors[FactorOfInner] * inner[3 * item + r];
  }
  if (MoveFromVoxel(grid, index, vector, cell, fraction))
  {
    InterpolateField(grid, outer, cell, fraction, moved);
    for (int r = 0; r < 3; ++r)
    {
      vector[r] = MultiplyAdd((real)factors[FactorOfOuter], moved[r], vector[r]);
    }
  }
  for (int r = 0; r < 3; ++r)
  {
    composed[3 * item + r] = vector[r];
  }
}

GPUREG_REAL_ITEM_KERNEL(ComposeFields, 1 << 12, "composing deformations");

/** Composes a field times a scale with itself at a voxel: squared(x) = s u(x) + s u(x + s u(x)), where u's edge continues outside of the
 *  grid: what leads out of it neither stops there nor compresses what lies before it. Moves 24 bytes a voxel, of floats. */
GPUREG_REAL_FUNCTION void
SquareField(
  const FieldGrid * grid, float scale, GPUREG_GLOBAL const real * field, GPUREG_GLOBAL real * squared, i64 item)
{
  int  index[3], cell[3];
  real vector[3], moved[3], fraction[3];
  ComputeVoxelIndex(grid, item, index);
  for (int r = 0; r < 3; ++r)
  {
    vector[r] = (real)scale * field[3 * item + r];
  }
  MoveFromVoxel(grid, index, vector, cell, fraction);
  MoveToEdge(grid, cell, fraction);
  InterpolateField(grid, field, cell, fraction, moved);
  for (int r = 0; r < 3; ++r)
  {
    squared[3 * item + r] = MultiplyAdd((real)scale, moved[r], vector[r]);
  }
}

GPUREG_REAL_ITEM_KERNEL(SquareField, 1 << 12, "composing deformations");

/** Says how a field is resampled on another grid. */
typedef struct FieldResampling
{
  FixedMap  toField; /* from indices of grid to indices of fieldGrid */
  FieldGrid grid;
  FieldGrid fieldGrid;
  int       continues; /* 1: the field's edge continues outside of its grid; 0: the field is 0 there */
  int       unused;    /* a multiple of 8 bytes in all */
} FieldResampling;

/** Resamples a field linearly at a voxel of another grid. Outside of its own grid the field's edge continues, or it is 0, as
 *  itk::DisplacementFieldTransformParametersAdaptor has it. Moves 12 bytes a voxel, and 12 a voxel of the field. */
GPUREG_REAL_FUNCTION void
ResampleField(const FieldResampling * a, GPUREG_GLOBAL const real * field, GPUREG_GLOBAL real * resampled, i64 item)
{
  int  index[3], cell[3];
  real fraction[3];
  real vector[3] = { 0.0f, 0.0f, 0.0f };
  ComputeVoxelIndex(&a->grid, item, index);
  for (int d = 0; d < 3; ++d)
  {
    const i64 position = ApplyFixedRow(&a->toField, d, index[0], index[1], index[2]);
    cell[d] = IntegerPart(position);
    ComputeFraction(position, fraction + d);
  }
  if (a->continues)
  {
    MoveToEdge(&a->fieldGrid, cell, fraction);
  }
  if (a->continues || IsInsideGrid(&a->fieldGrid, cell, fraction))
  {
    InterpolateField(&a->fieldGrid, field, cell, fraction, vector);
  }
  for (int r = 0; r < 3; ++r)
  {
    resampled[3 * item + r] = vector[r];
  }
}

GPUREG_REAL_ITEM_KERNEL(ResampleField, 1 << 12, "resampling a deformation");

GPUREG_NAMESPACE_END

#endif
