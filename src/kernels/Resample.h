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

/** How the output is cut for the devices that have work-groups. */
enum
{
  /** A tile of the output is as wide, and as many rows high as a group has lanes for. */
  ResampleTileColumns = 32,
  /** Tiles that a group makes, one below the other: what a lane works out once serves them all. */
  ResampleTilesOfGroup = 4,
  /** Columns of control points that a row of a tile meets at most where a part follows rows: one a voxel, and
   *  those of the support. */
  MaximumRowColumns = ResampleTileColumns + MaximumTransformSplineOrder + 2
};

/** How the chain is taken. */
enum
{
  ChainIsAffine = 0,
  ChainHasParts = 1,
  /** Its first part is a B-spline whose rows are the output's, see FollowsRows(). */
  ChainFollowsRows = 2
};

/** What a launch of the resampler needs beside its arrays. Indices of the output are relative to the
 *  region that is made, those of the input to its buffer. */
typedef struct ResampleArguments
{
  FixedMap toInput;
  i64      firstVoxel; /* of the slab of the input that the device holds */
  int      inputSize[3];
  int      outputSize[2]; /* voxels in a row, rows in a plane */
  int      components;
  int      interpolation;
  int      partCount;
  int      extrapolates; /* outside of the input its nearest voxel continues; otherwise the value for there */
  int      slabAxis;     /* the slab holds the voxels from slabBegin on, before slabEnd, along this axis, */
  int      slabBegin;    /* and those around them that interpolation reads */
  int      slabEnd;
  int      isFirstSlab; /* writes what is outside of the input, too */
  int      chain;       /* ChainIsAffine, … */
  int      padding;
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
ResampleLinearly(int                        components,
                 const ResampleArguments *  a,
                 GPUREG_GLOBAL const real * slab,
                 const int *                cell,
                 const real *               fraction,
                 GPUREG_GLOBAL real *       out)
{
  i64 first = -a->firstVoxel;
  i64 step[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    const int near = ClampIndex(cell[axis], a->inputSize[axis]);
    const int far = ClampIndex(cell[axis] + 1, a->inputSize[axis]);
    const i64 stride = InputStride(a, axis);
    first += near * stride;
    step[axis] = far > near ? stride * components : 0;
  }
  GPUREG_GLOBAL const real * p = slab + first * components;
  GPUREG_GLOBAL const real * q = p + step[2];
  for (int c = 0; c < components; ++c, ++p, ++q)
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
  for (int tap = 0; tap <= MaximumSplineOrder; ++tap)
  {
    index[tap] = 0;
    weights[tap] = 1.0f;
  }
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
  const int areNeighbours = width == order + 1 && x[width - 1] - x[0] == order;
  for (int t = 0; t <= MaximumSplineOrder; ++t)
  {
    columns[t] = 0.0f;
  }
  for (int c = 0; c < depth; ++c)
  {
    GPUREG_GLOBAL const real * slice = slab + ((i64)z[c] * a->inputSize[1] * a->inputSize[0] - a->firstVoxel);
    real                       plane[MaximumSplineOrder + 1];
    for (int t = 0; t <= MaximumSplineOrder; ++t)
    {
      plane[t] = 0.0f;
    }
    for (int b = 0; b < height; ++b)
    {
      GPUREG_GLOBAL const real * row = slice + y[b] * a->inputSize[0];
      if (areNeighbours)
      {
        row += x[0];
        for (int t = 0; t <= order; ++t)
        {
          plane[t] = MultiplyAdd(wy[b], row[t], plane[t]);
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
  real sum = wx[0] * columns[0];
  for (int t = 1; t < width; ++t)
  {
    sum = MultiplyAdd(wx[t], columns[t], sum);
  }
  out[0] = sum;
}

/** The value at cell + fraction, if it is inside of the input, or continued there. Otherwise out is what
 *  outside holds. Of a slab, only what lies in it is written. */
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
  for (int axis = 0; axis < 3; ++axis)
  {
    /* ITK's half-open box [-0.5, size - 0.5), and its way of rounding. */
    rounded[axis] = cell[axis] + (fraction[axis] >= 0.5f);
    isInside &= rounded[axis] >= 0 && rounded[axis] < a->inputSize[axis];
  }
  const int along = a->slabAxis == 2 ? cell[2] : (a->slabAxis == 1 ? cell[1] : cell[0]);
  const int size = a->slabAxis == 2 ? a->inputSize[2] : (a->slabAxis == 1 ? a->inputSize[1] : a->inputSize[0]);
  const int owner = ClampIndex(along, size);
  if (!isInside && !a->extrapolates)
  {
    for (int c = 0; a->isFirstSlab && c < components; ++c)
    {
      out[c] = outside[c];
    }
  }
  else if (owner < a->slabBegin || owner >= a->slabEnd)
  {
    return;
  }
  else if (!isInside || interpolation == ResampleNearest)
  {
    i64 voxel = -a->firstVoxel;
    for (int axis = 0; axis < 3; ++axis)
    {
      voxel += ClampIndex(rounded[axis], a->inputSize[axis]) * InputStride(a, axis);
    }
    for (int c = 0; c < components; ++c)
    {
      out[c] = slab[voxel * components + c];
    }
  }
  else if (interpolation == ResampleLinear)
  {
    ResampleLinearly(components, a, slab, cell, fraction, out);
  }
  else
  {
    ResampleBySpline(interpolation - ResampleBSpline, a, slab, cell, fraction, out);
  }
}

/** Where an output index comes to lie in the input, by the affine map alone. */
GPUREG_FUNCTION void
FindInputPosition(const ResampleArguments * a, int x, int y, int z, i64 * position)
{
  for (int r = 0; r < 3; ++r)
  {
    position[r] = ApplyFixedRow(&a->toInput, r, x, y, z);
  }
}

/** Cell and fraction of a position, moved by d if there is one (null: none). */
GPUREG_REAL_FUNCTION void
SplitPosition(const i64 * position, const real * d, int * cell, real * fraction)
{
  for (int r = 0; r < 3; ++r)
  {
    cell[r] = CellOf(position[r]);
    FindFraction(position[r], fraction + r);
    if (d)
    {
      MovePosition(d[r], cell + r, fraction + r);
    }
  }
}

GPUREG_NAMESPACE_END

#endif
