// SPDX-License-Identifier: Apache-2.0
// The inverse w of a field u, as itk::InvertDisplacementFieldImageFilter finds it: with e(x) = w(x) + u(x + w(x)), which is 0 for the
// inverse, and its length n in voxels, an iteration is
//   w ← w - ε e min(1, ε max n/n),  ε = 3/4 in the first iteration, then 1/2; 0 on the border.
// It goes on while the iteration before found a largest n above one threshold and a mean n above another. An iteration is
// MeasureInversionError() with a reduction, JudgeInversion() for one item, and StepInverse(). They keep what they know on the device, and
// do nothing once it is done: so iterations are enqueued without waiting for any. Only the error's length is stored, and the error found
// twice: 68 bytes a voxel and iteration, with the reduction, where storing the error would take 84.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldInversion_h
#define gpureg_kernels_FieldInversion_h

GPUREG_NAMESPACE_BEGIN

/** Describes where an inversion ends. */
typedef struct InversionRule
{
  i64   voxels;       /* of the grid */
  float largestError; /* voxels; ITK: 0.1 */
  float meanError;    /* voxels; ITK: 0.001 */
  int   iterations;   /* at most; ITK: 20 */
  int   parts;        /* of the grid, in each of which the largest error and the sum of errors were found */
} InversionRule;

/** Describes how far an inversion is. Its members are 0 at first. 32-bit members only. */
typedef struct InversionState
{
  float largestError; /* at the iteration's beginning, voxels */
  float meanError;
  float step; /* ε */
  int   iterations;
  int   isLast; /* this iteration's step is the last one */
  int   isDone; /* nothing more is to be done */
} InversionState;

/** Begins an inversion of a field that is the result of another inversion. before: the other inversion's state; does nothing unless that
 *  inversion has ended. For one item. */
GPUREG_FUNCTION void
BeginInversion(GPUREG_GLOBAL InversionState * state, GPUREG_GLOBAL const InversionState * before, i64 item)
{
  const InversionState begun = { 0.0f, 0.0f, 0.0f, 0, 0, !before[item].isLast };
  state[item] = begun;
}

GPUREG_ITEM_KERNEL(BeginInversion, 1, "inverting a deformation");

/** Computes e at a voxel, and its length in voxels. */
GPUREG_REAL_FUNCTION float
ComputeInverseError(
  const FieldGrid * grid, const int * index, GPUREG_GLOBAL const real * field, const real * inverse, real * error)
{
  int  cell[3];
  real fraction[3];
  real moved[3] = { 0.0f, 0.0f, 0.0f };
  if (MoveFromVoxel(grid, index, inverse, cell, fraction))
  {
    InterpolateField(grid, field, cell, fraction, moved);
  }
  for (int r = 0; r < 3; ++r)
  {
    error[r] = inverse[r] + moved[r];
  }
  return ComputeLengthInVoxels(grid, error);
}

/** Writes n at a voxel, in voxels, for a maximum and a sum over all of them; 0 once inversion is done. Moves 28 bytes a voxel. */
GPUREG_REAL_FUNCTION void
MeasureInversionError(const FieldGrid *                    grid,
                      GPUREG_GLOBAL const real *           field,
                      GPUREG_GLOBAL const real *           inverse,
                      GPUREG_GLOBAL const InversionState * state,
                      GPUREG_GLOBAL float *                lengths,
                      i64                                  item)
{
  int   index[3];
  real  error[3];
  float length = 0.0f;
  if (!state->isDone)
  {
    const real vector[3] = { inverse[3 * item], inverse[3 * item + 1], inverse[3 * item + 2] };
    ComputeVoxelIndex(grid, item, index);
    length = ComputeInverseError(grid, index, field, vector, error);
  }
  lengths[item] = length;
}

GPUREG_REAL_ITEM_KERNEL(MeasureInversionError, 1 << 12, "inverting a deformation");

/** Combines the errors of all parts, and decides whether the iteration that found them is the last one. For one item. */
GPUREG_FUNCTION void
JudgeInversion(const InversionRule *          rule,
               GPUREG_GLOBAL const float *    largest,
               GPUREG_GLOBAL const float *    sums,
               GPUREG_GLOBAL InversionState * state,
               i64                            item)
{
  InversionState now = state[item];
  now.isDone |= now.isLast;
  if (!now.isDone)
  {
    float found = 0.0f;
    float sum = 0.0f;
    GPUREG_UNROLL_8 for (int part = 0; part < rule->parts; ++part)
    {
      found = LargerOf(found, largest[part]);
      sum += sums[part];
    }
    now.largestError = found;
    now.meanError = sum / (float)rule->voxels;
    now.step = now.iterations == 0 ? 0.75f : 0.5f;
    ++now.iterations;
    now.isLast =
      now.iterations >= rule->iterations || !(now.largestError > rule->largestError && now.meanError > rule->meanError);
  }
  state[item] = now;
}

GPUREG_ITEM_KERNEL(JudgeInversion, 1, "inverting a deformation");

/** Takes the iteration's step at a voxel, in place. Moves 36 bytes a voxel. */
GPUREG_REAL_FUNCTION void
StepInverse(const FieldGrid *                    grid,
            GPUREG_GLOBAL const real *           field,
            GPUREG_GLOBAL const InversionState * state,
            GPUREG_GLOBAL real *                 inverse,
            i64                                  item)
{
  int  index[3];
  real error[3];
  if (state->isDone)
  {
    return;
  }
  const real vector[3] = { inverse[3 * item], inverse[3 * item + 1], inverse[3 * item + 2] };
  ComputeVoxelIndex(grid, item, index);
  const float length = ComputeInverseError(grid, index, field, vector, error);
  const float longest = state->step * state->largestError;
  const float step = length > longest ? state->step * (longest / length) : state->step;
  const int   isOnBorder = IsOnFieldBorder(grid, index);
  for (int r = 0; r < 3; ++r)
  {
    inverse[3 * item + r] = isOnBorder ? (real)0.0f : MultiplyAdd((real)-step, error[r], vector[r]);
  }
}

GPUREG_REAL_ITEM_KERNEL(StepInverse, 1 << 12, "inverting a deformation");

GPUREG_NAMESPACE_END

#endif
