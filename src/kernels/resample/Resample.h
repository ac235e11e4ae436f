// SPDX-License-Identifier: Apache-2.0
// One voxel of a resampled image: where its position lies in the input, and what it becomes there or outside, as itk::ResampleImageFilter
// defines it.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Resample_h
#define gpureg_kernels_Resample_h

GPUREG_NAMESPACE_BEGIN

/** Returns 1 if a position belongs to the input slab at hand; each position belongs to exactly one slab. */
GPUREG_FUNCTION int
IsOwnedBySlab(const ResampleArguments * a, const int * cell)
{
  const int along = a->slabAxis == 2 ? cell[2] : (a->slabAxis == 1 ? cell[1] : cell[0]);
  const int size = a->slabAxis == 2 ? a->inputSize[2] : (a->slabAxis == 1 ? a->inputSize[1] : a->inputSize[0]);
  const int owner = ClampIndex(along, size);
  return owner >= a->slabBegin && owner < a->slabEnd;
}

/** Computes the value at cell + fraction, if that is inside of the input, or extrapolated there. Otherwise `out` becomes `outside`. With
 *  an input slab, only outputs whose position belongs to the slab are written. */
GPUREG_REAL_FUNCTION void
ResampleAt(int                        interpolation,
           int                        components,
           const ResampleArguments *  a,
           GPUREG_GLOBAL const real * slab,
           GPUREG_GLOBAL const real * outside,
           const int *                cell,
           const real *               fraction,
           GPUREG_GLOBAL real *       out)
{
  int rounded[3];
  int isInside = 1;
  if (interpolation <= ResampleLinear && IsAmongVoxels(a, cell) && (a->isOnlySlab || IsOwnedBySlab(a, cell)))
  {
    if (interpolation == ResampleNearest)
    {
      CopyNearestAmongVoxels(components, a, slab, cell, fraction, out);
      return;
    }
    if (ResampleAmongVoxels(components, a, slab, cell, fraction, out))
    {
      return;
    }
  }
  for (int axis = 0; axis < 3; ++axis)
  {
    /* ITK's half-open box [-0.5, size - 0.5), and its way of rounding. */
    rounded[axis] = cell[axis] + (fraction[axis] >= 0.5f);
    isInside &= rounded[axis] >= 0 && rounded[axis] < a->inputSize[axis];
  }
  if (!isInside && !a->extrapolates)
  {
    for (int c = 0; a->isFirstSlab && c < components; ++c)
    {
      out[c] = outside[c];
    }
  }
  else if (!a->isOnlySlab && !IsOwnedBySlab(a, cell))
  {
    return;
  }
  else if (!isInside && interpolation > ResampleBSpline1)
  {
    ResampleNearestBySpline(OrderOfBSpline(interpolation), a, slab, cell, fraction, out);
  }
  else if (!isInside || interpolation == ResampleNearest)
  {
    const int x = ClampIndex(rounded[0], a->inputSize[0]);
    const int y = ClampIndex(rounded[1], a->inputSize[1]);
    const int z = ClampIndex(rounded[2], a->inputSize[2]);
    CopyVoxel(components, InputVoxel(components, a, slab, x, y, z), out);
  }
  else if (interpolation == ResampleLinear)
  {
    ResampleLinearly(components, a, slab, cell, fraction, out);
  }
  else
  {
    ResampleBySpline(OrderOfBSpline(interpolation), a, slab, cell, fraction, out);
  }
}

/** Computes the position of an output index in the input by the affine map alone. */
GPUREG_FUNCTION void
ComputeInputPosition(const ResampleArguments * a, int x, int y, int z, i64 * position)
{
  for (int r = 0; r < 3; ++r)
  {
    position[r] = ApplyFixedRow(&a->toInput, r, x, y, z);
  }
}

/** Computes the value at a position moved by d, or not moved if d is null: see ResampleAt. */
GPUREG_REAL_FUNCTION void
ResampleMoved(int                        interpolation,
              int                        components,
              const ResampleArguments *  a,
              GPUREG_GLOBAL const real * slab,
              GPUREG_GLOBAL const real * outside,
              const i64 *                position,
              const real *               d,
              GPUREG_GLOBAL real *       out)
{
  int  cell[3];
  real fraction[3];
  for (int r = 0; r < 3; ++r)
  {
    cell[r] = IntegerPart(position[r]);
    ComputeFraction(position[r], fraction + r);
    if (d)
    {
      MovePosition(d[r], cell + r, fraction + r);
    }
  }
  ResampleAt(interpolation, components, a, slab, outside, cell, fraction, out);
}

GPUREG_NAMESPACE_END

#endif
