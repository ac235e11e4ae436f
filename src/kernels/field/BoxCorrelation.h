// SPDX-License-Identifier: Apache-2.0
// The local correlation of two images over boxes, squared with its sign, and its exact derivative by each moving value. With n, f̄, m̄ a
// box's count of samples and means, c = Σfm/n - f̄ m̄, and f and m's variances F and M, each with a constant added,
//   S = c|c|/(F·M),
// and Σ S over all boxes has by the moving value of a voxel the derivative
//   f Σ A - m Σ B + Σ C,  A = 2|c|/(F·M·n),  B = 2 S/(M·n),  C = B m̄ - A f̄,
// summed over the boxes that the voxel is in: those whose centres are in its own. So sums over boxes are made twice, in planes and then
// along z: SumProductsInPlane, ComputeCorrelationTerms; SumTermsInPlane, ComputeCorrelationForces. FieldBlocks.h has what an item of them
// sums. Without weights a box has all its voxels, those outside of the grid with values of 0. With weights n is the sum of a box's weights,
// the means are weighed, and so is each S by its centre's weight: a mask's 0 and 1, or a channel's confidence.
// NeighborhoodCorrelation.h has ITK's metric, and its derivative of a box's own centre.
// Moves 128 bytes a voxel, of floats: 28, 32, 24 and 44; 24 more with weights. Rows beside a block are read again, from a cache.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_BoxCorrelation_h
#define gpureg_kernels_BoxCorrelation_h

GPUREG_NAMESPACE_BEGIN

/** The sums over a box. Each sum has an array with one number per voxel; the arrays follow each other in memory. */
enum
{
  BoxFixed = 0,
  BoxMoving = 1,
  BoxFixedSquares = 2,
  BoxMovingSquares = 3,
  BoxProducts = 4,
  BoxUnweighedSums = 5,
  BoxWeights = 5,
  BoxWeighedSums = 6
};

/** The terms of the derivative. Each term has an array with one number per voxel; the arrays follow each other in memory. */
enum
{
  BoxTermOfFixed = 0,  /* A */
  BoxTermOfMoving = 1, /* B */
  BoxTermAlone = 2,    /* C */
  BoxTerms = 3
};

/** 32-bit members only. */
typedef struct BoxCorrelation
{
  int   radius[3]; /* 0 along z in two dimensions */
  int   hasWeights;
  float variance; /* is added to F and M: where images are flat, noise counts for nothing */
} BoxCorrelation;

GPUREG_FUNCTION int
CountBoxSums(const BoxCorrelation * a)
{
  return a->hasWeights ? BoxWeighedSums : BoxUnweighedSums;
}

/** Computes the first and the last row that a block's sums read along an axis: radius rows before and behind the block, inside of the
 *  grid. */
GPUREG_FUNCTION void
ComputeRowsOfSums(const FieldBlock * block, int first, int radius, int size, int * begin, int * last)
{
  const int end = first + block->length - 1 + radius;
  *begin = first > radius ? first - radius : 0;
  *last = end < size ? end : size - 1;
}

/** Adds the row at a place along an axis to each of a block's sums whose box contains the row. arrays: the number of sums per voxel;
 *  row: [arrays][BlockWidth]; first: the block's first place along the axis; sums: [BoxesLength][arrays][BlockWidth]. */
GPUREG_REAL_FUNCTION void
AddRowToSums(const FieldBlock * block, int radius, int first, int place, int arrays, const real * row, real * sums)
{
  GPUREG_UNROLL_ALL for (int j = 0; j < BoxesLength; ++j)
  {
    if (IsWithin(radius, place, first + j))
    {
      GPUREG_UNROLL_ALL for (int s = 0; s < arrays; ++s)
      {
        real *       sum = sums + (j * arrays + s) * BlockWidth;
        const real * added = row + s * BlockWidth;
        GPUREG_FOR_ELEMENTS(i, 1, 0, block->width)
        {
          sum[i] += added[i];
        }
      }
    }
  }
}

/** Writes the sums of a block along y: sum s of voxel n goes to summed[s·voxels + n]. kept: the number of sums per voxel that are
 *  written. */
GPUREG_REAL_FUNCTION void
StoreSumsInPlane(const FieldGrid *    grid,
                 const FieldBlock *   block,
                 int                  arrays,
                 int                  kept,
                 const real *         sums,
                 GPUREG_GLOBAL real * summed)
{
  const i64 voxels = CountFieldVoxels(grid);
  GPUREG_UNROLL_ALL for (int j = 0; j < BoxesLength; ++j)
  {
    if (j < block->length)
    {
      const i64 voxel = ComputeRowOfBlock(grid, block, block->first[1] + j, block->first[2]);
      GPUREG_UNROLL_ALL for (int s = 0; s < arrays; ++s)
      {
        if (s < kept)
        {
          GPUREG_FOR_ELEMENTS(i, 1, 0, block->width)
          {
            summed[s * voxels + voxel + i] = sums[(j * arrays + s) * BlockWidth + i];
          }
        }
      }
    }
  }
}

/** Adds the values of a sample, and their products, to element i of a row's sums. */
GPUREG_REAL_FUNCTION void
AddProducts(real fixed, real moving, int i, real * row)
{
  row[BoxFixed * BlockWidth + i] += fixed;
  row[BoxMoving * BlockWidth + i] += moving;
  row[BoxFixedSquares * BlockWidth + i] = MultiplyAdd(fixed, fixed, row[BoxFixedSquares * BlockWidth + i]);
  row[BoxMovingSquares * BlockWidth + i] = MultiplyAdd(moving, moving, row[BoxMovingSquares * BlockWidth + i]);
  row[BoxProducts * BlockWidth + i] = MultiplyAdd(fixed, moving, row[BoxProducts * BlockWidth + i]);
}

/** Adds a weight, and the values of a sample and their products times the weight, to element i of a row's sums. */
GPUREG_REAL_FUNCTION void
AddWeighedProducts(real weight, real fixed, real moving, int i, real * row)
{
  const real f = weight * fixed;
  const real m = weight * moving;
  row[BoxFixed * BlockWidth + i] += f;
  row[BoxMoving * BlockWidth + i] += m;
  row[BoxFixedSquares * BlockWidth + i] = MultiplyAdd(f, fixed, row[BoxFixedSquares * BlockWidth + i]);
  row[BoxMovingSquares * BlockWidth + i] = MultiplyAdd(m, moving, row[BoxMovingSquares * BlockWidth + i]);
  row[BoxProducts * BlockWidth + i] = MultiplyAdd(f, moving, row[BoxProducts * BlockWidth + i]);
  row[BoxWeights * BlockWidth + i] += weight;
}

/** Sums a block of voxels' products over their neighbours in the plane. weights: one a voxel, read if there are any. */
GPUREG_REAL_FUNCTION void
SumProductsInPlane(const FieldGrid *          grid,
                   const BoxCorrelation *     a,
                   GPUREG_GLOBAL const real * fixed,
                   GPUREG_GLOBAL const real * moving,
                   GPUREG_GLOBAL const real * weights,
                   GPUREG_GLOBAL real *       summed,
                   i64                        item)
{
  FieldBlock block;
  int        begin, last, firstMove, lastMove;
  real       row[BoxWeighedSums * BlockWidth];
  real       sums[BoxesLength * BoxWeighedSums * BlockWidth];
  LocateFieldBlock(grid, 1, BoxesLength, item, &block);
  ComputeRowsOfSums(&block, block.first[1], a->radius[1], grid->size[1], &begin, &last);
  ComputeMoves(grid, &block, a->radius[0], &firstMove, &lastMove);
  ClearSums(BoxesLength * BoxWeighedSums * BlockWidth, sums);
  for (int y = begin; y <= last; ++y)
  {
    const i64                  first = ComputeRowOfBlock(grid, &block, y, block.first[2]);
    GPUREG_GLOBAL const real * fixedRow = fixed + first;
    GPUREG_GLOBAL const real * movingRow = moving + first;
    ClearSums(BoxWeighedSums * BlockWidth, row);
    if (a->hasWeights)
    {
      GPUREG_GLOBAL const real * weightsRow = weights + first;
      for (int by = firstMove; by <= lastMove; ++by)
      {
        int firstInside, endInside;
        ComputeMovedRow(grid, &block, by, &firstInside, &endInside);
        GPUREG_FOR_ELEMENTS(i, 1, firstInside, endInside)
        {
          AddWeighedProducts(weightsRow[by + i], fixedRow[by + i], movingRow[by + i], i, row);
        }
      }
    }
    else
    {
      GPUREG_UNROLL_4 for (int by = firstMove; by <= lastMove; ++by)
      {
        int firstInside, endInside;
        ComputeMovedRow(grid, &block, by, &firstInside, &endInside);
        GPUREG_FOR_ELEMENTS(i, 1, firstInside, endInside)
        {
          AddProducts(fixedRow[by + i], movingRow[by + i], i, row);
        }
      }
    }
    AddRowToSums(&block, a->radius[1], block.first[1], y, BoxWeighedSums, row, sums);
  }
  StoreSumsInPlane(grid, &block, BoxWeighedSums, CountBoxSums(a), sums, summed);
}

GPUREG_REAL_ITEM_KERNEL(SumProductsInPlane, 4, "summing over neighborhoods");

/** Sums the terms of a block of voxels over their neighbours in the plane. */
GPUREG_REAL_FUNCTION void
SumTermsInPlane(const FieldGrid *          grid,
                const BoxCorrelation *     a,
                GPUREG_GLOBAL const real * terms,
                GPUREG_GLOBAL real *       summed,
                i64                        item)
{
  const i64  voxels = CountFieldVoxels(grid);
  FieldBlock block;
  int        begin, last, firstMove, lastMove;
  real       row[BoxTerms * BlockWidth];
  real       sums[BoxesLength * BoxTerms * BlockWidth];
  LocateFieldBlock(grid, 1, BoxesLength, item, &block);
  ComputeRowsOfSums(&block, block.first[1], a->radius[1], grid->size[1], &begin, &last);
  ComputeMoves(grid, &block, a->radius[0], &firstMove, &lastMove);
  ClearSums(BoxesLength * BoxTerms * BlockWidth, sums);
  for (int y = begin; y <= last; ++y)
  {
    const i64 first = ComputeRowOfBlock(grid, &block, y, block.first[2]);
    ClearSums(BoxTerms * BlockWidth, row);
    GPUREG_UNROLL_4 for (int by = firstMove; by <= lastMove; ++by)
    {
      int firstInside, endInside;
      ComputeMovedRow(grid, &block, by, &firstInside, &endInside);
      GPUREG_UNROLL_ALL for (int t = 0; t < BoxTerms; ++t)
      {
        GPUREG_GLOBAL const real * its = terms + t * voxels + first;
        GPUREG_FOR_ELEMENTS(i, 1, firstInside, endInside)
        {
          row[t * BlockWidth + i] += its[by + i];
        }
      }
    }
    AddRowToSums(&block, a->radius[1], block.first[1], y, BoxTerms, row, sums);
  }
  StoreSumsInPlane(grid, &block, BoxTerms, BoxTerms, sums, summed);
}

GPUREG_REAL_ITEM_KERNEL(SumTermsInPlane, 4, "summing over neighborhoods");

/** Sums the arrays of a block of voxels along z. kept: the number of arrays that exist; the sums of the others are 0. */
GPUREG_REAL_FUNCTION void
SumAlongZ(const FieldGrid *          grid,
          const FieldBlock *         block,
          int                        radius,
          int                        arrays,
          int                        kept,
          GPUREG_GLOBAL const real * summed,
          real *                     row,
          real *                     sums)
{
  const i64 voxels = CountFieldVoxels(grid);
  int       begin, last;
  ComputeRowsOfSums(block, block->first[2], radius, grid->size[2], &begin, &last);
  ClearSums(arrays * BlockWidth, row);
  ClearSums(BoxesLength * arrays * BlockWidth, sums);
  GPUREG_UNROLL_2 for (int z = begin; z <= last; ++z)
  {
    const i64 first = ComputeRowOfBlock(grid, block, block->first[1], z);
    GPUREG_UNROLL_ALL for (int s = 0; s < arrays; ++s)
    {
      if (s < kept)
      {
        GPUREG_FOR_ELEMENTS(i, 1, 0, block->width)
        {
          row[s * BlockWidth + i] = summed[s * voxels + first + i];
        }
      }
    }
    AddRowToSums(block, radius, block->first[2], z, arrays, row, sums);
  }
}

/** Computes S of a box, and the derivative's terms, from the box's sums: element i of each array. weight: the weight of the box's
 *  centre. */
GPUREG_REAL_FUNCTION real
ComputeTermsOfBox(const BoxCorrelation * a, real weight, const real * sums, int i, real * terms)
{
  const real count = sums[BoxWeights * BlockWidth + i];
  const real perCount = 1.0f / count;
  const real f = sums[BoxFixed * BlockWidth + i] * perCount;
  const real m = sums[BoxMoving * BlockWidth + i] * perCount;
  const real ff = MultiplyAdd(-f, f, sums[BoxFixedSquares * BlockWidth + i] * perCount) + (real)a->variance;
  const real mm = MultiplyAdd(-m, m, sums[BoxMovingSquares * BlockWidth + i] * perCount) + (real)a->variance;
  const real fm = MultiplyAdd(-f, m, sums[BoxProducts * BlockWidth + i] * perCount);
  const real slope = (fm < 0.0f ? -fm : fm) / (ff * mm);
  const real value = weight * fm * slope;
  const real ofFixed = 2.0f * weight * slope * perCount;
  const real ofMoving = 2.0f * value * perCount / mm;
  /* Compute both values for each box and select afterwards, so that a compiler computes several boxes at a time. */
  const int counts = (weight != 0.0f) & (count > 0.0f) & (ff > 0.0f) & (mm > 0.0f);
  terms[BoxTermOfFixed * BlockWidth + i] = counts ? ofFixed : (real)0.0f;
  terms[BoxTermOfMoving * BlockWidth + i] = counts ? ofMoving : (real)0.0f;
  terms[BoxTermAlone * BlockWidth + i] = counts ? MultiplyAdd(ofMoving, m, -ofFixed * f) : (real)0.0f;
  return counts ? value : (real)0.0f;
}

/** Finishes the sums of a block of boxes, and writes the derivative's terms, and the sum of the block's S to values[item]. */
GPUREG_REAL_FUNCTION void
ComputeCorrelationTerms(const FieldGrid *          grid,
                        const BoxCorrelation *     a,
                        GPUREG_GLOBAL const real * summed,
                        GPUREG_GLOBAL const real * weights,
                        GPUREG_GLOBAL real *       values,
                        GPUREG_GLOBAL real *       terms,
                        i64                        item)
{
  const i64  voxels = CountFieldVoxels(grid);
  const real box = (real)((2 * a->radius[0] + 1) * (2 * a->radius[1] + 1)) * (real)(2 * a->radius[2] + 1);
  FieldBlock block;
  real       row[BoxWeighedSums * BlockWidth];
  real       sums[BoxesLength * BoxWeighedSums * BlockWidth];
  real       found[BoxTerms * BlockWidth];
  real       weight[BlockWidth];
  real       value[BlockWidth];
  real       total = 0.0f;
  LocateFieldBlock(grid, 2, BoxesLength, item, &block);
  SumAlongZ(grid, &block, a->radius[2], BoxWeighedSums, CountBoxSums(a), summed, row, sums);
  ClearSums(BlockWidth, value);
  GPUREG_UNROLL_ALL for (int j = 0; j < BoxesLength; ++j)
  {
    if (j < block.length)
    {
      real *    of = sums + j * BoxWeighedSums * BlockWidth;
      const i64 first = ComputeRowOfBlock(grid, &block, block.first[1], block.first[2] + j);
      GPUREG_FOR_ELEMENTS(i, 1, 0, block.width)
      {
        weight[i] = a->hasWeights ? weights[first + i] : (real)1.0f;
        of[BoxWeights * BlockWidth + i] = a->hasWeights ? of[BoxWeights * BlockWidth + i] : box;
      }
      GPUREG_FOR_ELEMENTS(i, 1, 0, block.width)
      {
        value[i] += ComputeTermsOfBox(a, weight[i], of, i, found);
      }
      GPUREG_UNROLL_ALL for (int t = 0; t < BoxTerms; ++t)
      {
        GPUREG_FOR_ELEMENTS(i, 1, 0, block.width)
        {
          terms[t * voxels + first + i] = found[t * BlockWidth + i];
        }
      }
    }
  }
  for (int i = 0; i < BlockWidth; ++i)
  {
    total += value[i];
  }
  values[item] = total;
}

GPUREG_REAL_ITEM_KERNEL(ComputeCorrelationTerms, 4, "correlating neighborhoods");

/** Finishes the sums of terms around a block of voxels, and writes the derivative by each moving value times the moving image's gradient.
 *  This is the derivative by the displacement if the gradient is that of the interpolation. gradients, forces: fields. */
GPUREG_REAL_FUNCTION void
ComputeCorrelationForces(const FieldGrid *          grid,
                         const BoxCorrelation *     a,
                         GPUREG_GLOBAL const real * summed,
                         GPUREG_GLOBAL const real * fixed,
                         GPUREG_GLOBAL const real * moving,
                         GPUREG_GLOBAL const real * weights,
                         GPUREG_GLOBAL const real * gradients,
                         GPUREG_GLOBAL real *       forces,
                         i64                        item)
{
  FieldBlock block;
  real       row[BoxTerms * BlockWidth];
  real       sums[BoxesLength * BoxTerms * BlockWidth];
  LocateFieldBlock(grid, 2, BoxesLength, item, &block);
  SumAlongZ(grid, &block, a->radius[2], BoxTerms, BoxTerms, summed, row, sums);
  GPUREG_UNROLL_ALL for (int j = 0; j < BoxesLength; ++j)
  {
    if (j < block.length)
    {
      const real * of = sums + j * BoxTerms * BlockWidth;
      const i64    first = ComputeRowOfBlock(grid, &block, block.first[1], block.first[2] + j);
      GPUREG_FOR_ELEMENTS(i, 1, 0, block.width)
      {
        const i64  voxel = first + i;
        const real ofFixed =
          MultiplyAdd(fixed[voxel], of[BoxTermOfFixed * BlockWidth + i], of[BoxTermAlone * BlockWidth + i]);
        const real both = MultiplyAdd(-moving[voxel], of[BoxTermOfMoving * BlockWidth + i], ofFixed);
        const real byMoving = a->hasWeights ? weights[voxel] * both : both;
        GPUREG_UNROLL_ALL for (int r = 0; r < 3; ++r)
        {
          forces[3 * voxel + r] = byMoving * gradients[3 * voxel + r];
        }
      }
    }
  }
}

GPUREG_REAL_ITEM_KERNEL(ComputeCorrelationForces, 4, "deriving a correlation over neighborhoods");

GPUREG_NAMESPACE_END

#endif
