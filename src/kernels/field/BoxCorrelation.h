// SPDX-License-Identifier: Apache-2.0
// The local correlation of two images over boxes, squared with its sign, and its exact derivative by each moving value. With n, f̄, m̄ a
// box's count of samples and means, c = Σfm/n - f̄ m̄, and f and m's variances F and M, each with a constant added,
//   S = c|c|/(F·M),
// and Σ S over all boxes has by the moving value of a voxel the derivative
//   f Σ A - m Σ B + Σ C,  A = 2|c|/(F·M·n),  B = 2 S/(M·n),  C = B m̄ - A f̄,
// summed over the boxes that the voxel is in: those whose centres are in its own. So sums over boxes are made twice, along one axis after
// the other:
//   SumProductsAlongX, SumBoxesAlong y, FindCorrelationTerms (along z); SumBoxesAlong x and y, FindCorrelationForces (along z).
// Without weights a box has all its voxels, those outside of the grid with values of 0. With weights n is the sum of a box's weights, the
// means are weighed, and so is each S by its centre's weight: a mask's 0 and 1, or a channel's confidence.
// NeighborhoodCorrelation.h has ITK's metric, and its derivative of a box's own centre.
// Moves 196 bytes a voxel, of floats: 28, 40, 36, 24, 24 and 44; 28 more with weights. Each neighbour along an axis is read again, from a
// cache: 16 readings more for a radius more.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_BoxCorrelation_h
#define gpureg_kernels_BoxCorrelation_h

GPUREG_NAMESPACE_BEGIN

/** The sums over a box: arrays of one a voxel, behind each other. */
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

/** The terms of the derivative, likewise. */
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

/** Finds the first and the last place along an axis of a box about a place. */
GPUREG_FUNCTION void
FindBoxEnds(int place, int radius, int size, int * first, int * last)
{
  *first = place > radius ? place - radius : 0;
  *last = place + radius < size ? place + radius : size - 1;
}

/** Writes the sums of a voxel's row in its box. weights: one a voxel, read if there are any. */
GPUREG_REAL_FUNCTION void
SumProductsAlongX(const FieldGrid *          grid,
                  const BoxCorrelation *     a,
                  GPUREG_GLOBAL const real * fixed,
                  GPUREG_GLOBAL const real * moving,
                  GPUREG_GLOBAL const real * weights,
                  GPUREG_GLOBAL real *       sums,
                  i64                        item)
{
  const i64 voxels = CountFieldVoxels(grid);
  int       index[3], first, last;
  real      sum[BoxWeighedSums] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
  FindVoxelIndex(grid, item, index);
  FindBoxEnds(index[0], a->radius[0], grid->size[0], &first, &last);
  for (i64 voxel = item + (first - index[0]); voxel <= item + (last - index[0]); ++voxel)
  {
    const real weight = a->hasWeights ? weights[voxel] : (real)1.0f;
    const real f = weight * fixed[voxel];
    const real m = weight * moving[voxel];
    sum[BoxFixed] += f;
    sum[BoxMoving] += m;
    sum[BoxFixedSquares] = MultiplyAdd(f, fixed[voxel], sum[BoxFixedSquares]);
    sum[BoxMovingSquares] = MultiplyAdd(m, moving[voxel], sum[BoxMovingSquares]);
    sum[BoxProducts] = MultiplyAdd(f, moving[voxel], sum[BoxProducts]);
    sum[BoxWeights] += weight;
  }
  for (int s = 0; s < BoxUnweighedSums; ++s)
  {
    sums[s * voxels + item] = sum[s];
  }
  if (a->hasWeights)
  {
    sums[BoxWeights * voxels + item] = sum[BoxWeights];
  }
}

GPUREG_REAL_ITEM_KERNEL(SumProductsAlongX, 1 << 12, "summing over neighborhoods");

/** Sums an element of arrays of one a voxel, behind each other, over its neighbours along x or y. */
GPUREG_REAL_FUNCTION void
SumBoxesAlong(const FieldGrid *          grid,
              const BoxCorrelation *     a,
              int                        axis,
              GPUREG_GLOBAL const real * arrays,
              GPUREG_GLOBAL real *       summed,
              i64                        item)
{
  const i64 stride = axis == 0 ? 1 : grid->size[0];
  int       index[3], first, last;
  real      sum = 0.0f;
  FindVoxelIndex(grid, item, index);
  const int place = axis == 0 ? index[0] : index[1];
  FindBoxEnds(place, axis == 0 ? a->radius[0] : a->radius[1], axis == 0 ? grid->size[0] : grid->size[1], &first, &last);
  GPUREG_GLOBAL const real * element = arrays + item + (first - place) * stride;
  for (int at = first; at <= last; ++at, element += stride)
  {
    sum += *element;
  }
  summed[item] = sum;
}

GPUREG_REAL_ITEM_KERNEL(SumBoxesAlong, 1 << 14, "summing over neighborhoods");

/** Sums an array over a voxel's neighbours along z. */
GPUREG_REAL_FUNCTION real
SumAlongZ(const FieldGrid * grid, const BoxCorrelation * a, GPUREG_GLOBAL const real * array, i64 item)
{
  const i64 plane = (i64)grid->size[0] * grid->size[1];
  int       index[3], first, last;
  real      sum = 0.0f;
  FindVoxelIndex(grid, item, index);
  FindBoxEnds(index[2], a->radius[2], grid->size[2], &first, &last);
  GPUREG_GLOBAL const real * element = array + item + (first - index[2]) * plane;
  for (int place = first; place <= last; ++place, element += plane)
  {
    sum += *element;
  }
  return sum;
}

/** Finishes the sums of a voxel's box, and writes its S and the derivative's terms. */
GPUREG_REAL_FUNCTION void
FindCorrelationTerms(const FieldGrid *          grid,
                     const BoxCorrelation *     a,
                     GPUREG_GLOBAL const real * sums,
                     GPUREG_GLOBAL const real * weights,
                     GPUREG_GLOBAL real *       values,
                     GPUREG_GLOBAL real *       terms,
                     i64                        item)
{
  const i64  voxels = CountFieldVoxels(grid);
  const real box = (real)((2 * a->radius[0] + 1) * (2 * a->radius[1] + 1)) * (real)(2 * a->radius[2] + 1);
  const real weight = a->hasWeights ? weights[item] : (real)1.0f;
  real       sum[BoxWeighedSums];
  real       value = 0.0f;
  real       term[BoxTerms] = { 0.0f, 0.0f, 0.0f };
  for (int s = 0; s < BoxUnweighedSums; ++s)
  {
    sum[s] = SumAlongZ(grid, a, sums + s * voxels, item);
  }
  sum[BoxWeights] = a->hasWeights ? SumAlongZ(grid, a, sums + BoxWeights * voxels, item) : box;
  if (weight != 0.0f && sum[BoxWeights] > 0.0f)
  {
    const real count = sum[BoxWeights];
    const real f = sum[BoxFixed] / count;
    const real m = sum[BoxMoving] / count;
    const real ff = MultiplyAdd(-f, f, sum[BoxFixedSquares] / count) + (real)a->variance;
    const real mm = MultiplyAdd(-m, m, sum[BoxMovingSquares] / count) + (real)a->variance;
    const real fm = MultiplyAdd(-f, m, sum[BoxProducts] / count);
    if (ff > 0.0f && mm > 0.0f)
    {
      const real slope = (fm < 0.0f ? -fm : fm) / (ff * mm);
      value = weight * fm * slope;
      term[BoxTermOfFixed] = 2.0f * weight * slope / count;
      term[BoxTermOfMoving] = 2.0f * value / (mm * count);
      term[BoxTermAlone] = MultiplyAdd(term[BoxTermOfMoving], m, -term[BoxTermOfFixed] * f);
    }
  }
  values[item] = value;
  for (int t = 0; t < BoxTerms; ++t)
  {
    terms[t * voxels + item] = term[t];
  }
}

GPUREG_REAL_ITEM_KERNEL(FindCorrelationTerms, 1 << 12, "correlating neighborhoods");

/** Finishes the sums of terms around a voxel, and writes the derivative by its moving value times the moving image's gradient there: by the
 *  displacement, where that gradient is the derivative of how the moving value was interpolated. gradients and forces: as a field. */
GPUREG_REAL_FUNCTION void
FindCorrelationForces(const FieldGrid *          grid,
                      const BoxCorrelation *     a,
                      GPUREG_GLOBAL const real * terms,
                      GPUREG_GLOBAL const real * fixed,
                      GPUREG_GLOBAL const real * moving,
                      GPUREG_GLOBAL const real * weights,
                      GPUREG_GLOBAL const real * gradients,
                      GPUREG_GLOBAL real *       forces,
                      i64                        item)
{
  const i64 voxels = CountFieldVoxels(grid);
  real      sum[BoxTerms];
  for (int t = 0; t < BoxTerms; ++t)
  {
    sum[t] = SumAlongZ(grid, a, terms + t * voxels, item);
  }
  const real ofFixed = MultiplyAdd(fixed[item], sum[BoxTermOfFixed], sum[BoxTermAlone]);
  const real both = MultiplyAdd(-moving[item], sum[BoxTermOfMoving], ofFixed);
  const real byMoving = a->hasWeights ? weights[item] * both : both;
  for (int r = 0; r < 3; ++r)
  {
    forces[3 * item + r] = byMoving * gradients[3 * item + r];
  }
}

GPUREG_REAL_ITEM_KERNEL(FindCorrelationForces, 1 << 12, "deriving a correlation over neighborhoods");

GPUREG_NAMESPACE_END

#endif
