// SPDX-License-Identifier: Apache-2.0
// A field smoothed by a symmetric kernel along one axis after the other, as
// itk::SyNImageRegistrationMethod::GaussianSmoothDisplacementField() does it. FieldBlocks.h has what an item sums. Along x and y each
// number of the field is smoothed alone, so that neighbouring lanes read side by side; along z a lane has a vector, and measures it. In
// floats: LineConvolution.h's double precision, which integer images need, would take twice the time.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldSmoothing_h
#define gpureg_kernels_FieldSmoothing_h

GPUREG_NAMESPACE_BEGIN

/** Smoothing by three kernels. An axis has the weights of the centre and of neighbours 1 … radius on either side, followed by WeightZeros
 *  zeros; the weights of the three axes follow each other. 32-bit members only. */
typedef struct FieldSmoothing
{
  int   radius[3];    /* neighbours on either side; 0 and a weight of 1: nothing is smoothed along that axis */
  int   clearsBorder; /* border voxels are set to 0 at the end */
  int   measures;     /* the longest vector of each block is written */
  float kept; /* part of the unsmoothed field in the result, 0 to 1: ITK keeps 2·variance where that is below 1 */
} FieldSmoothing;

/** The number of zeros behind an axis' weights. They are the weights of a row in those sums of a block that do not contain the row. */
enum
{
  WeightZeros = HostBlockLength
};

/** Returns an axis' weights of all weights. */
GPUREG_FUNCTION GPUREG_GLOBAL const float *
ComputeWeightsOfAxis(const FieldSmoothing * a, GPUREG_GLOBAL const float * weights, int axis)
{
  for (int before = 0; before < axis; ++before)
  {
    weights += a->radius[before] + 1 + WeightZeros;
  }
  return weights;
}

/** Returns the grid of a field's numbers: three times as wide as that of its vectors. */
GPUREG_FUNCTION FieldGrid
MakeGridOfNumbers(const FieldGrid * grid)
{
  FieldGrid numbers = *grid;
  numbers.size[0] *= 3;
  return numbers;
}

/** Returns the place inside of a line whose value continues to the given place before or behind the line. */
GPUREG_FUNCTION int
ClampPlace(int place, int size)
{
  return place < 0 ? 0 : (place < size ? place : size - 1);
}

/** Adds a weight times the numbers of a block's rows, moved along x, to the rows. Before and behind the grid its edge continues. numbers:
 *  the grid of numbers that the block is of; by: a multiple of 3; lines: from the first number of the block's first line on; rows:
 *  [BlockLength][BlockWidth]. */
GPUREG_REAL_FUNCTION void
AddMovedRows(const FieldGrid *          numbers,
             const FieldBlock *         block,
             int                        by,
             real                       weight,
             GPUREG_GLOBAL const real * lines,
             real *                     rows)
{
  const int width = numbers->size[0];
  const int component = block->first[0] % 3;
  const int first = block->first[0] + by;
#ifdef GPUREG_HAS_LANES
  GPUREG_GLOBAL const real * moved = lines + (first < 0 ? component : (first < width ? first : width - 3 + component));
  /* Most blocks are whole, and their lanes ask this once for all rows. */
  if (block->length == BlockLength)
  {
    GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
    {
      rows[j] = MultiplyAdd(weight, moved[(i64)j * width], rows[j]);
    }
  }
  else
  {
    GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
    {
      if (j < block->length)
      {
        rows[j] = MultiplyAdd(weight, moved[(i64)j * width], rows[j]);
      }
    }
  }
#else
  int begin, end;
  ComputeMovedRow(numbers, block, by, &begin, &end);
  for (int j = 0; j < block->length; ++j)
  {
    const real * line = lines + (i64)j * width;
    real *       row = rows + j * BlockWidth;
    for (int i = 0; i < begin; ++i)
    {
      row[i] = MultiplyAdd(weight, line[(component + i) % 3], row[i]);
    }
    for (int i = begin; i < end; ++i)
    {
      row[i] = MultiplyAdd(weight, line[first + i], row[i]);
    }
    for (int i = end; i < block->width; ++i)
    {
      row[i] = MultiplyAdd(weight, line[width - 3 + (component + i) % 3], row[i]);
    }
  }
#endif
}

/** Updates the weights of a block's sums for the next place along the axis. weights: the axis'; away: the distance of that place from the
 *  block's first one; window: [BlockLength], all 0 before the first place, which is a radius before the block. */
GPUREG_REAL_FUNCTION void
AdvanceWeights(GPUREG_GLOBAL const float * weights, int away, real * window)
{
  GPUREG_UNROLL_ALL for (int j = BlockLength - 1; j > 0; --j)
  {
    window[j] = window[j - 1];
  }
  window[0] = (real)weights[away < 0 ? -away : away];
}

/** Adds a row of a block, times its weights, to the block's sums. perVoxel: numbers of a voxel; window: the row's weights, from
 *  AdvanceWeights(); row: [perVoxel·BlockWidth]; sums: [BlockLength][perVoxel·BlockWidth]. */
GPUREG_REAL_FUNCTION void
WeighRow(const FieldBlock * block, int perVoxel, const real * window, const real * row, real * sums)
{
  GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
  {
#ifndef GPUREG_HAS_LANES
    /* Devices add zeros as well: lanes that branch differently would wait for each other. */
    if (window[j] == 0.0f)
    {
      continue;
    }
#endif
    real * sum = sums + j * perVoxel * BlockWidth;
    GPUREG_FOR_ELEMENTS(i, perVoxel, 0, block->width)
    {
      sum[i] = MultiplyAdd(window[j], row[i], sum[i]);
    }
  }
}

/** Writes the sums of a block of numbers along y. smoothed: from the first number of the block's first line on. */
GPUREG_REAL_FUNCTION void
StoreSmoothedRows(const FieldGrid * numbers, const FieldBlock * block, const real * sums, GPUREG_GLOBAL real * smoothed)
{
  GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
  {
    if (j < block->length)
    {
      GPUREG_GLOBAL real * line = smoothed + (i64)j * numbers->size[0] + block->first[0];
      GPUREG_FOR_ELEMENTS(i, 1, 0, block->width)
      {
        line[i] = sums[j * BlockWidth + i];
      }
    }
  }
}

/** Smooths a block of a field's numbers along x. weights: of all axes. Moves 24 bytes a voxel. */
GPUREG_REAL_FUNCTION void
SmoothFieldAlongX(const FieldGrid *           grid,
                  const FieldSmoothing *      a,
                  GPUREG_GLOBAL const float * weights,
                  GPUREG_GLOBAL const real *  field,
                  GPUREG_GLOBAL real *        smoothed,
                  i64                         item)
{
  const FieldGrid numbers = MakeGridOfNumbers(grid);
  FieldBlock      block;
  i64             first;
  real            sums[BlockLength * BlockWidth];
  LocateFieldBlock(&numbers, 1, BlockLength, item, &block);
  first = ComputeRowOfBlock(&numbers, &block, block.first[1], block.first[2]) - block.first[0];
  ClearSums(BlockLength * BlockWidth, sums);
  for (int by = -a->radius[0]; by <= a->radius[0]; ++by)
  {
    AddMovedRows(&numbers, &block, 3 * by, (real)weights[by < 0 ? -by : by], field + first, sums);
  }
  StoreSmoothedRows(&numbers, &block, sums, smoothed + first);
}

GPUREG_REAL_ITEM_KERNEL(SmoothFieldAlongX, 4, "smoothing a deformation");

/** Smooths a block of a field's numbers along y. weights: of all axes. Moves 24 bytes a voxel. */
GPUREG_REAL_FUNCTION void
SmoothFieldAlongY(const FieldGrid *           grid,
                  const FieldSmoothing *      a,
                  GPUREG_GLOBAL const float * weights,
                  GPUREG_GLOBAL const real *  field,
                  GPUREG_GLOBAL real *        smoothed,
                  i64                         item)
{
  GPUREG_GLOBAL const float * alongY = ComputeWeightsOfAxis(a, weights, 1);
  const FieldGrid             numbers = MakeGridOfNumbers(grid);
  FieldBlock                  block;
  i64                         first;
  real                        window[BlockLength];
  real                        row[BlockWidth];
  real                        sums[BlockLength * BlockWidth];
  LocateFieldBlock(&numbers, 1, BlockLength, item, &block);
  first = ComputeRowOfBlock(&numbers, &block, 0, block.first[2]) - block.first[0];
  ClearSums(BlockLength, window);
  ClearSums(BlockLength * BlockWidth, sums);
  GPUREG_UNROLL_4 for (int away = -a->radius[1]; away < block.length + a->radius[1]; ++away)
  {
    const int                  y = ClampPlace(block.first[1] + away, grid->size[1]);
    GPUREG_GLOBAL const real * line = field + first + (i64)y * numbers.size[0] + block.first[0];
    GPUREG_FOR_ELEMENTS(i, 1, 0, block.width)
    {
      row[i] = line[i];
    }
    AdvanceWeights(alongY, away, window);
    WeighRow(&block, 1, window, row, sums);
  }
  StoreSmoothedRows(&numbers, &block, sums, smoothed + first + (i64)block.first[1] * numbers.size[0]);
}

GPUREG_REAL_ITEM_KERNEL(SmoothFieldAlongY, 4, "smoothing a deformation");

/** Finishes a smoothed row of a block, from voxel number first on: adds what is kept of the unsmoothed field, sets border voxels to 0, and
 *  measures vectors. */
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
      longest = LargerOf(longest, ComputeLengthInVoxels(grid, row + 3 * i));
    }
  }
  return longest;
}

/** Smooths a block of a field, which has been smoothed along x and y, along z. weights: of all axes; unsmoothed: the field before all axes,
 *  which is read where a->kept is not 0; longest: the length in voxels of the longest vector of block number item. Moves 24 bytes a
 *  voxel. */
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
  GPUREG_GLOBAL const float * alongZ = ComputeWeightsOfAxis(a, weights, 2);
  float                       found = 0.0f;
  const i64                   ofPlane = 3 * (i64)grid->size[0] * grid->size[1];
  FieldBlock                  block;
  GPUREG_GLOBAL const real *  column;
  real                        window[BlockLength];
  real                        row[3 * BlockWidth];
  real                        sums[BlockLength * 3 * BlockWidth];
  LocateFieldBlock(grid, 2, BlockLength, item, &block);
  column = field + 3 * ComputeRowOfBlock(grid, &block, block.first[1], 0);
  ClearSums(BlockLength, window);
  ClearSums(BlockLength * 3 * BlockWidth, sums);
  GPUREG_UNROLL_4 for (int away = -a->radius[2]; away < block.length + a->radius[2]; ++away)
  {
    const int z = ClampPlace(block.first[2] + away, grid->size[2]);
    GPUREG_FOR_ELEMENTS(i, 3, 0, block.width)
    {
      row[i] = column[(i64)z * ofPlane + i];
    }
    AdvanceWeights(alongZ, away, window);
    WeighRow(&block, 3, window, row, sums);
  }
  GPUREG_UNROLL_ALL for (int j = 0; j < BlockLength; ++j)
  {
    if (j < block.length)
    {
      const i64 first = ComputeRowOfBlock(grid, &block, block.first[1], block.first[2] + j);
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
