// SPDX-License-Identifier: Apache-2.0
// One voxel of a resampled image: the chain of transforms, then interpolation, as itk::ResampleImageFilter
// and ITK's interpolators define them.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Resample_h
#define gpureg_kernels_Resample_h

GPUREG_NAMESPACE_BEGIN

/** How values are interpolated. A B-spline's order is added to ResampleBSpline. */
enum
{
  ResampleNearest = 0,
  ResampleLinear = 1,
  ResampleBSpline = 2
};

/** What a launch of the resampler needs beside its arrays. Indices of the output are relative to the
 *  region that is made, those of the input to its buffer. */
typedef struct ResampleArguments
{
  FixedMap toInput;
  i64      firstVoxel; /* of the slab of the input that the device holds */
  int      inputSize[3];
  int      outputSize[2]; /* voxels in a row, rows in a plane */
  int      dimension;
  int      components;
  int      interpolation;
  int      partCount;
  int      extrapolates; /* outside of the input its nearest voxel continues; otherwise the value for there */
  int      slabAxis;     /* the slab holds the voxels from slabBegin on, before slabEnd, along this axis, */
  int      slabBegin;    /* and those around them that interpolation reads */
  int      slabEnd;
  int      isFirstSlab; /* writes what is outside of the input, too */
} ResampleArguments;

GPUREG_FUNCTION int
ClampIndex(int index, int size)
{
  return index < 0 ? 0 : (index < size ? index : size - 1);
}

/** Mirrors an index about the first and the last voxel, as the prefilter that made the coefficients did. */
GPUREG_FUNCTION int
MirrorIndex(int index, int size)
{
  if (index >= 0 && index < size)
  {
    return index;
  }
  const int period = size > 1 ? 2 * (size - 1) : 1;
  const int wrapped = index % period;
  const int positive = wrapped < 0 ? wrapped + period : wrapped;
  return positive < size ? positive : period - positive;
}

/** Voxels to the next neighbour along an axis. */
GPUREG_FUNCTION i64
InputStride(const ResampleArguments * a, int axis)
{
  return axis == 0 ? 1 : (axis == 1 ? (i64)a->inputSize[0] : (i64)a->inputSize[0] * a->inputSize[1]);
}

/** Linear interpolation along one axis; where both are the same, to the bit. */
GPUREG_REAL_FUNCTION real
MixReal(real a, real b, real fraction)
{
  return MultiplyAdd(fraction, b - a, a);
}

/** itk::LinearInterpolateImageFunction: around the outermost voxels' centres the edge continues. */
GPUREG_REAL_FUNCTION void
ResampleLinearly(const ResampleArguments *  a,
                 GPUREG_GLOBAL const real * slab,
                 const int *                cell,
                 const real *               fraction,
                 GPUREG_GLOBAL real *       out)
{
  i64 first[3], step[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    const int near = ClampIndex(cell[axis], a->inputSize[axis]);
    const int far = ClampIndex(cell[axis] + 1, a->inputSize[axis]);
    const i64 stride = InputStride(a, axis) * a->components;
    first[axis] = near * stride;
    step[axis] = far > near ? stride : 0;
  }
  GPUREG_GLOBAL const real * p = slab + (first[0] + first[1] + first[2] - a->firstVoxel * a->components);
  GPUREG_GLOBAL const real * q = p + step[2];
  for (int c = 0; c < a->components; ++c, ++p, ++q)
  {
    const real nearPlane = MixReal(MixReal(p[0], p[step[0]], fraction[0]),
                                   MixReal(p[step[1]], p[step[1] + step[0]], fraction[0]),
                                   fraction[1]);
    const real farPlane = MixReal(MixReal(q[0], q[step[0]], fraction[0]),
                                  MixReal(q[step[1]], q[step[1] + step[0]], fraction[0]),
                                  fraction[1]);
    out[c] = MixReal(nearPlane, farPlane, fraction[2]);
  }
}

/** The coefficients along one axis that count at cell + fraction, and their weights; one, of weight 1, along
 *  an axis of a single voxel. Returns how many. */
GPUREG_REAL_FUNCTION int
FindCoefficients(int order, int size, int cell, real fraction, int * index, real * weights)
{
  index[0] = 0;
  weights[0] = 1.0f;
  if (size == 1)
  {
    return 1;
  }
  /* An even order's knots lie half-way between the samples. */
  const int isEven = (order & 1) == 0;
  const int upperHalf = isEven && fraction >= 0.5f;
  SplineWeights(order, isEven ? (upperHalf ? fraction - 0.5f : fraction + 0.5f) : fraction, weights);
  for (int tap = 0; tap <= order; ++tap)
  {
    index[tap] = MirrorIndex(cell + upperHalf - order / 2 + tap, size);
  }
  return order + 1;
}

/** itk::BSplineInterpolateImageFunction, of one component. Rows are added up column by column, and the
 *  columns last: so that a compiler may take several at once. */
GPUREG_REAL_FUNCTION void
ResampleBySpline(int                        order,
                 const ResampleArguments *  a,
                 GPUREG_GLOBAL const real * slab,
                 const int *                cell,
                 const real *               fraction,
                 GPUREG_GLOBAL real *       out)
{
  int       x[MaximumSplineOrder + 1], y[MaximumSplineOrder + 1], z[MaximumSplineOrder + 1];
  real      wx[MaximumSplineOrder + 1], wy[MaximumSplineOrder + 1], wz[MaximumSplineOrder + 1];
  real      columns[MaximumSplineOrder + 1];
  const int width = FindCoefficients(order, a->inputSize[0], cell[0], fraction[0], x, wx);
  const int height = FindCoefficients(order, a->inputSize[1], cell[1], fraction[1], y, wy);
  const int depth = FindCoefficients(order, a->inputSize[2], cell[2], fraction[2], z, wz);
  const int areNeighbours = x[width - 1] - x[0] == width - 1;
  for (int t = 0; t <= order; ++t)
  {
    columns[t] = 0.0f;
  }
  for (int c = 0; c < depth; ++c)
  {
    real plane[MaximumSplineOrder + 1];
    for (int t = 0; t <= order; ++t)
    {
      plane[t] = 0.0f;
    }
    for (int b = 0; b < height; ++b)
    {
      GPUREG_GLOBAL const real * row = slab + ((i64)(z[c] * a->inputSize[1] + y[b]) * a->inputSize[0] - a->firstVoxel);
      if (areNeighbours && width == order + 1)
      {
        for (int t = 0; t <= order; ++t)
        {
          plane[t] = MultiplyAdd(wy[b], row[x[0] + t], plane[t]);
        }
      }
      else
      {
        for (int t = 0; t < width; ++t)
        {
          plane[t] = MultiplyAdd(wy[b], row[x[t]], plane[t]);
        }
      }
    }
    for (int t = 0; t <= order; ++t)
    {
      columns[t] = MultiplyAdd(wz[c], plane[t], columns[t]);
    }
  }
  real sum = 0.0f;
  for (int t = 0; t < width; ++t)
  {
    sum = MultiplyAdd(wx[t], columns[t], sum);
  }
  out[0] = sum;
}

/** The value at cell + fraction, if it is inside of the input, or continued there. Otherwise out is what
 *  outside holds. Of a slab, only what lies in it is written. */
GPUREG_REAL_FUNCTION void
ResampleAt(int                        interpolation,
           const ResampleArguments *  a,
           GPUREG_GLOBAL const real * slab,
           GPUREG_GLOBAL const real * outside,
           const int *                cell,
           const real *               fraction,
           GPUREG_GLOBAL real *       out)
{
  int nearest[3];
  int isInside = 1;
  for (int axis = 0; axis < 3; ++axis)
  {
    /* ITK's half-open box [-0.5, size - 0.5), and its way of rounding. */
    const int rounded = cell[axis] + (fraction[axis] >= 0.5f);
    nearest[axis] = ClampIndex(rounded, a->inputSize[axis]);
    isInside &= nearest[axis] == rounded;
  }
  const int position = ClampIndex(cell[a->slabAxis], a->inputSize[a->slabAxis]);
  if (!isInside && !a->extrapolates)
  {
    for (int c = 0; a->isFirstSlab && c < a->components; ++c)
    {
      out[c] = outside[c];
    }
  }
  else if (position < a->slabBegin || position >= a->slabEnd)
  {
    return;
  }
  else if (!isInside || interpolation == ResampleNearest)
  {
    const i64 row = (i64)(nearest[2] * a->inputSize[1] + nearest[1]) * a->inputSize[0];
    for (int c = 0; c < a->components; ++c)
    {
      out[c] = slab[(row + nearest[0] - a->firstVoxel) * a->components + c];
    }
  }
  else if (interpolation == ResampleLinear)
  {
    ResampleLinearly(a, slab, cell, fraction, out);
  }
  else
  {
    ResampleBySpline(interpolation - ResampleBSpline, a, slab, cell, fraction, out);
  }
}

/** One voxel of the output. */
GPUREG_REAL_FUNCTION void
ResampleVoxel(int                             interpolation,
              int                             hasParts,
              const ResampleArguments *       a,
              GPUREG_GLOBAL const ChainPart * parts,
              GPUREG_GLOBAL const float4 *    vectors,
              GPUREG_GLOBAL const real *      slab,
              GPUREG_GLOBAL const real *      outside,
              int                             x,
              int                             y,
              int                             z,
              GPUREG_GLOBAL real *            out)
{
  int  cell[3];
  real fraction[3];
  if (hasParts)
  {
    real d[3];
    DisplaceByChain(a->partCount, parts, vectors, x, y, z, d);
    LocateMoved(&a->toInput, x, y, z, d, cell, fraction);
  }
  else
  {
    for (int r = 0; r < 3; ++r)
    {
      const i64 position = ApplyFixedRow(&a->toInput, r, x, y, z);
      cell[r] = CellOf(position);
      FindFraction(position, fraction + r);
    }
  }
  ResampleAt(interpolation, a, slab, outside, cell, fraction, out);
}

GPUREG_NAMESPACE_END

#endif
