// SPDX-License-Identifier: Apache-2.0
// A field smoothed by a symmetric kernel along one axis after the other, as
// itk::SyNImageRegistrationMethod::GaussianSmoothDisplacementField() does it: first in planes, then along z. FieldBlocks.h has what an item
// sums. In floats: LineConvolution.h's double precision, which integer images need, would take twice the time.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldSmoothing_h
#define gpureg_kernels_FieldSmoothing_h

GPUREG_NAMESPACE_BEGIN

/** Smoothing by three kernels, whose weights, of the centre and of neighbours 1 … radius on either side, lie behind each other. 32-bit members
 *  only. */
typedef struct FieldSmoothing
{
  int   radius[3];    /* neighbours on either side; 0 and a weight of 1: nothing is smoothed along that axis */
  int   clearsBorder; /* border voxels are set to 0 at the end */
  int   measures;     /* the longest vector of each block is written */
  float kept; /* part of the unsmoothed field in the result, 0 to 1: ITK keeps 2·variance where that is below 1 */
} FieldSmoothing;

/** Adds a weight times the elements of a block's row, moved along x, to row. Before and behind the line its edge continues. line: the first
 *  element of the line that the row belongs to; row: [3·BlockWidth]. */
GPUREG_REAL_FUNCTION void
AddMovedRow(
  const FieldGrid * grid, const FieldBlock * block, int by, real weight, GPUREG_GLOBAL const real * line, real * row)
{
  GPUREG_GLOBAL const real * last = line + 3 * (i64)(grid->size[0] - 1);
  GPUREG_GLOBAL const real * moved = line + 3 * (i64)(block->first[0] + by);
  int                        begin, end;
  FindMovedRow(grid, block, by, &begin, &end);
  GPUREG_FOR_ELEMENTS(i, 3, 0, begin)
  {
    row[i] = MultiplyAdd(weight, line[i % 3], row[i]);
  }
  GPUREG_FOR_ELEMENTS(i, 3, begin, end)
  {
    row[i] = MultiplyAdd(weight, moved[i], row[i]);
  }
  GPUREG_FOR_ELEMENTS(i, 3, end, block->width)
  {
    row[i] = MultiplyAdd(weight, last[i % 3], row[i]);
  }
}

/** Adds a row at a place, times its weights, to those of a block's sums that it belongs to. first: the block's first place along the axis;
 *  row: [3·BlockWidth]; sums: [BlockLength][3·BlockWidth]. */
GPUREG_REAL_FUNCTION void
WeighRow(const FieldBlock *          block,
         int                         radius,
         GPUREG_GLOBAL const float * weights,
         int                         first,
         int                         place,
         const real *                row,
         real *                      sums)
{
  GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
  {
    const int away = place - first - j;
    if (away >= -radius && away <= radius)
    {
      const real weight = (real)weights[away < 0 ? -away : away];
      real *     sum = sums + j * 3 * BlockWidth;
      GPUREG_FOR_ELEMENTS(i, 3, 0, block->width)
      {
        sum[i] = MultiplyAdd(weight, row[i], sum[i]);
      }
    }
  }
}

/** Returns the place inside of a line that stands for one before or behind it. */
GPUREG_FUNCTION int
ClampPlace(int place, int size)
{
  return place < 0 ? 0 : (place < size ? place : size - 1);
}

/** Smooths a block of a field along x and y. Moves 24 bytes a voxel. */
GPUREG_REAL_FUNCTION void
SmoothFieldInPlane(const FieldGrid *           grid,
                   const FieldSmoothing *      a,
                   GPUREG_GLOBAL const float * weights,
                   GPUREG_GLOBAL const real *  field,
                   GPUREG_GLOBAL real *        smoothed,
                   i64                         item)
{
  GPUREG_GLOBAL const float * alongY = weights + a->radius[0] + 1;
  FieldBlock                  block;
  real                        row[3 * BlockWidth];
  real                        sums[BlockLength * 3 * BlockWidth];
  FindFieldBlock(grid, 1, item, &block);
  ClearSums(BlockLength * 3 * BlockWidth, sums);
  for (int y = block.first[1] - a->radius[1]; y < block.first[1] + block.length + a->radius[1]; ++y)
  {
    const i64 first = FindRowOfBlock(grid, &block, ClampPlace(y, grid->size[1]), block.first[2]);
    ClearSums(3 * BlockWidth, row);
    for (int by = -a->radius[0]; by <= a->radius[0]; ++by)
    {
      AddMovedRow(grid, &block, by, (real)weights[by < 0 ? -by : by], field + 3 * (first - block.first[0]), row);
    }
    WeighRow(&block, a->radius[1], alongY, block.first[1], y, row, sums);
  }
  GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
  {
    if (j < block.length)
    {
      const i64 first = FindRowOfBlock(grid, &block, block.first[1] + j, block.first[2]);
      GPUREG_FOR_ELEMENTS(i, 3, 0, block.width)
      {
        smoothed[3 * first + i] = sums[j * 3 * BlockWidth + i];
      }
    }
  }
}

GPUREG_REAL_ITEM_KERNEL(SmoothFieldInPlane, 4, "smoothing a deformation");

/** Finishes a smoothed row of a block, from voxel number first on: adds what is kept of the unsmoothed field, sets border voxels to 0, and measures vectors. */
GPUREG_REAL_FUNCTION float
FinishSmoothing(const FieldGrid *          grid,
                const FieldSmoothing *     a,
                const FieldBlock *         block,
                int                        z,
                GPUREG_GLOBAL const real * unsmoothed,
                i64                        first,
                real *                     row)
{
  float longest = 0.0f;
  if (a->kept > 0.0f)
  {
    GPUREG_FOR_ELEMENTS(i, 3, 0, block->width)
    {
      row[i] = MixNumbers(row[i], unsmoothed[3 * first + i], (real)a->kept);
    }
  }
  if (a->clearsBorder)
  {
    GPUREG_FOR_ELEMENTS(i, 1, 0, block->width)
    {
      const int index[3] = { block->first[0] + i, block->first[1], z };
      for (int c = 0; c < 3; ++c)
      {
        row[3 * i + c] = IsOnFieldBorder(grid, index) ? (real)0.0f : row[3 * i + c];
      }
    }
  }
  if (a->measures)
  {
    GPUREG_FOR_ELEMENTS(i, 1, 0, block->width)
    {
      longest = LargerOf(longest, FindLengthInVoxels(grid, row + 3 * i));
    }
  }
  return longest;
}

/** Smooths a block of a field, which has been smoothed in planes, along z. weights: of all axes; unsmoothed: the field before all axes, which
 *  is read where a->kept is not 0; longest: the length in voxels of the longest vector of block number item. Moves 24 bytes a voxel. */
GPUREG_REAL_FUNCTION void
SmoothFieldAlongZ(const FieldGrid *           grid,
                  const FieldSmoothing *      a,
                  GPUREG_GLOBAL const float * weights,
                  GPUREG_GLOBAL const real *  field,
                  GPUREG_GLOBAL const real *  unsmoothed,
                  GPUREG_GLOBAL real *        smoothed,
                  GPUREG_GLOBAL float *       longest,
                  i64                         item)
{
  GPUREG_GLOBAL const float * alongZ = weights + a->radius[0] + a->radius[1] + 2;
  float                       found = 0.0f;
  FieldBlock                  block;
  real                        row[3 * BlockWidth];
  real                        sums[BlockLength * 3 * BlockWidth];
  FindFieldBlock(grid, 2, item, &block);
  ClearSums(BlockLength * 3 * BlockWidth, sums);
  for (int z = block.first[2] - a->radius[2]; z < block.first[2] + block.length + a->radius[2]; ++z)
  {
    const i64 first = FindRowOfBlock(grid, &block, block.first[1], ClampPlace(z, grid->size[2]));
    GPUREG_FOR_ELEMENTS(i, 3, 0, block.width)
    {
      row[i] = field[3 * first + i];
    }
    WeighRow(&block, a->radius[2], alongZ, block.first[2], z, row, sums);
  }
  GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
  {
    if (j < block.length)
    {
      const i64 first = FindRowOfBlock(grid, &block, block.first[1], block.first[2] + j);
      real *    of = sums + j * 3 * BlockWidth;
      found = LargerOf(found, FinishSmoothing(grid, a, &block, block.first[2] + j, unsmoothed, first, of));
      GPUREG_FOR_ELEMENTS(i, 3, 0, block.width)
      {
        smoothed[3 * first + i] = of[i];
      }
    }
  }
  if (a->measures)
  {
    longest[item] = found;
  }
}

GPUREG_REAL_ITEM_KERNEL(SmoothFieldAlongZ, 4, "smoothing a deformation");

GPUREG_NAMESPACE_END

#endif
