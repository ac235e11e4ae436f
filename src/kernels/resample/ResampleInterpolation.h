// SPDX-License-Identifier: Apache-2.0
// The interpolations of a resampled image, as ITK's interpolators define them.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ResampleInterpolation_h
#define gpureg_kernels_ResampleInterpolation_h

GPUREG_NAMESPACE_BEGIN

GPUREG_FUNCTION int
ClampIndex(int index, int size)
{
  return index < 0 ? 0 : (index < size ? index : size - 1);
}

GPUREG_FUNCTION int
MirrorIndexOfFew(int index, int size)
{
  const int period = size > 1 ? 2 * (size - 1) : 1;
  const int wrapped = index % period;
  return wrapped < size ? wrapped : period - wrapped;
}

/** Mirrors an index about the first and the last voxel, as does the prefilter that makes the coefficients. */
GPUREG_FUNCTION int
MirrorIndex(int index, int size)
{
  const int positive = index < 0 ? -index : index;
  const int mirrored = positive < size ? positive : 2 * (size - 1) - positive;
  /* An image smaller than the support is mirrored more than once. */
  return mirrored >= 0 ? mirrored : MirrorIndexOfFew(positive, size);
}

/** Returns the address of a voxel's first component. */
GPUREG_REAL_FUNCTION GPUREG_GLOBAL const real *
InputVoxel(int components, const ResampleArguments * a, GPUREG_GLOBAL const real * slab, int x, int y, int z)
{
  const i64 slice = (i64)z * (a->inputSize[1] * a->inputSize[0]) - a->firstVoxel;
  return slab + (slice + (y * a->inputSize[0] + x)) * components;
}

/** Interpolates linearly along one axis; exact to the bit if both values are equal. At fraction 0 b has no influence, even if it is
 *  infinite or NaN. */
GPUREG_REAL_FUNCTION real
MixReal(real a, real b, real fraction)
{
  return fraction > 0.0f ? MultiplyAdd(fraction, b - a, a) : a;
}

/** Clamps as itk::ResampleImageFilter casts: infinities become the largest number of their sign, NaN stays. Doubles are not cast. */
GPUREG_REAL_FUNCTION real
ClampReal(real value)
{
  if (sizeof(real) > sizeof(float))
  {
    return value;
  }
  const real largest = 3.402823466e+38f;
  return value > largest ? largest : (value < -largest ? -largest : value);
}

/** Returns 1 if the eight voxels around a position are all in the input: the usual case, in which nothing is clamped. */
GPUREG_FUNCTION int
IsAmongVoxels(const ResampleArguments * a, const int * cell)
{
  return (u32)cell[0] < (u32)(a->inputSize[0] - 1) && (u32)cell[1] < (u32)(a->inputSize[1] - 1) &&
         (u32)cell[2] < (u32)(a->inputSize[2] - 1);
}

GPUREG_REAL_FUNCTION void
CopyVoxel(int components, GPUREG_GLOBAL const real * voxel, GPUREG_GLOBAL real * out)
{
  for (int c = 0; c < components; ++c)
  {
    out[c] = ClampReal(voxel[c]);
  }
}

/** Interpolates as itk::NearestNeighborInterpolateImageFunction, for positions among voxels. */
GPUREG_REAL_FUNCTION void
CopyNearestAmongVoxels(int                        components,
                       const ResampleArguments *  a,
                       GPUREG_GLOBAL const real * slab,
                       const int *                cell,
                       const real *               fraction,
                       GPUREG_GLOBAL real *       out)
{
  const int x = cell[0] + (fraction[0] >= 0.5f);
  const int y = cell[1] + (fraction[1] >= 0.5f);
  const int z = cell[2] + (fraction[2] >= 0.5f);
  CopyVoxel(components, InputVoxel(components, a, slab, x, y, z), out);
}

/** Interpolates as itk::LinearInterpolateImageFunction, for positions among voxels. Returns 0 if the result is not finite: then each
 *  voxel's weight must be tested, since a voxel of weight 0 may be infinite or NaN. */
GPUREG_REAL_FUNCTION int
ResampleAmongVoxels(int                        components,
                    const ResampleArguments *  a,
                    GPUREG_GLOBAL const real * slab,
                    const int *                cell,
                    const real *               fraction,
                    GPUREG_GLOBAL real *       out)
{
  const i64                  row = (i64)a->inputSize[0] * components;
  GPUREG_GLOBAL const real * p = InputVoxel(components, a, slab, cell[0], cell[1], cell[2]);
  GPUREG_GLOBAL const real * q = p + a->inputSize[1] * row;
  int                        isFinite = 1;
  for (int c = 0; c < components; ++c, ++p, ++q)
  {
    const real p0 = MultiplyAdd(fraction[0], p[components] - p[0], p[0]);
    const real p1 = MultiplyAdd(fraction[0], p[row + components] - p[row], p[row]);
    const real q0 = MultiplyAdd(fraction[0], q[components] - q[0], q[0]);
    const real q1 = MultiplyAdd(fraction[0], q[row + components] - q[row], q[row]);
    const real nearPlane = MultiplyAdd(fraction[1], p1 - p0, p0);
    const real farPlane = MultiplyAdd(fraction[1], q1 - q0, q0);
    const real value = MultiplyAdd(fraction[2], farPlane - nearPlane, nearPlane);
    isFinite &= value - value == 0.0f;
    out[c] = value;
  }
  return isFinite;
}

/** Interpolates as itk::LinearInterpolateImageFunction: beyond the centres of the outermost voxels, the edge is repeated. */
GPUREG_REAL_FUNCTION void
ResampleLinearly(int                        components,
                 const ResampleArguments *  a,
                 GPUREG_GLOBAL const real * slab,
                 const int *                cell,
                 const real *               fraction,
                 GPUREG_GLOBAL real *       out)
{
  const int x = ClampIndex(cell[0], a->inputSize[0]);
  const int y = ClampIndex(cell[1], a->inputSize[1]);
  const int z = ClampIndex(cell[2], a->inputSize[2]);
  /* Where the edge is repeated, only its voxel has a weight. */
  const int                  farX = ClampIndex(cell[0] + 1, a->inputSize[0]);
  const int                  farY = ClampIndex(cell[1] + 1, a->inputSize[1]);
  const int                  farZ = ClampIndex(cell[2] + 1, a->inputSize[2]);
  const real                 fx = farX > x ? fraction[0] : (real)0.0f;
  const real                 fy = farY > y ? fraction[1] : (real)0.0f;
  const real                 fz = farZ > z ? fraction[2] : (real)0.0f;
  const i64                  stepX = (farX - x) * components;
  const i64                  stepY = (i64)(farY - y) * a->inputSize[0] * components;
  GPUREG_GLOBAL const real * p = InputVoxel(components, a, slab, x, y, z);
  GPUREG_GLOBAL const real * q = InputVoxel(components, a, slab, x, y, farZ);
  for (int c = 0; c < components; ++c, ++p, ++q)
  {
    const real nearPlane = MixReal(MixReal(p[0], p[stepX], fx), MixReal(p[stepY], p[stepY + stepX], fx), fy);
    const real farPlane = MixReal(MixReal(q[0], q[stepX], fx), MixReal(q[stepY], q[stepY + stepX], fx), fy);
    out[c] = ClampReal(MixReal(nearPlane, farPlane, fz));
  }
}

/** Returns the sum over a support that lies inside, order + 1 coefficients along each axis of more than one voxel. Rows are added up
 *  column by column, and the columns last, so that a compiler may process several at once. */
GPUREG_REAL_FUNCTION real
SumSupport(int                        order,
           const ResampleArguments *  a,
           GPUREG_GLOBAL const real * first,
           int                        depth,
           const real *               wx,
           const real *               wy,
           const real *               wz)
{
  const i64 slice = (i64)a->inputSize[1] * a->inputSize[0];
  real      columns[MaximumSplineOrder + 1];
  for (int t = 0; t <= order; ++t)
  {
    columns[t] = 0.0f;
  }
  for (int c = 0; c < depth; ++c, first += slice)
  {
    GPUREG_GLOBAL const real * row = first;
    real                       plane[MaximumSplineOrder + 1];
    for (int t = 0; t <= order; ++t)
    {
      plane[t] = 0.0f;
    }
    for (int b = 0; b <= order; ++b, row += a->inputSize[0])
    {
      for (int t = 0; t <= order; ++t)
      {
        plane[t] = MultiplyAdd(wy[b], row[t], plane[t]);
      }
    }
    for (int t = 0; t <= order; ++t)
    {
      columns[t] = MultiplyAdd(wz[c], plane[t], columns[t]);
    }
  }
  real sum = 0.0f;
  for (int t = 0; t <= order; ++t)
  {
    sum = MultiplyAdd(wx[t], columns[t], sum);
  }
  return sum;
}

/** Computes the first coefficient along an axis with a weight at cell + fraction, and the order + 1 weights. Along an axis of a single
 *  voxel, there is one weight only. Returns the number of weights. */
GPUREG_REAL_FUNCTION int
ComputeCoefficients(int order, int size, int cell, real fraction, int * first, real * weights)
{
  if (size == 1)
  {
    *first = 0;
    for (int t = 0; t <= order; ++t)
    {
      weights[t] = t == 0 ? 1.0f : 0.0f;
    }
    return 1;
  }
  /* The knots of an even order lie half-way between the samples. */
  const int isEven = (order & 1) == 0;
  const int upperHalf = isEven && fraction >= 0.5f;
  SplineWeights(order, isEven ? (upperHalf ? fraction - 0.5f : fraction + 0.5f) : fraction, weights);
  *first = cell + upperHalf - order / 2;
  return order + 1;
}

/** Returns the sum over a support that extends over an edge, where it is mirrored. Loops are of constant length, so that a compiler may
 *  keep the weights in registers. */
GPUREG_REAL_FUNCTION real
SumMirroredSupport(int                        order,
                   const ResampleArguments *  a,
                   GPUREG_GLOBAL const real * slab,
                   const int *                first,
                   const real *               wx,
                   const real *               wy,
                   const real *               wz)
{
  int  x[MaximumSplineOrder + 1];
  real sum = 0.0f;
  for (int t = 0; t <= order; ++t)
  {
    x[t] = MirrorIndex(first[0] + t, a->inputSize[0]);
  }
  for (int c = 0; c <= order; ++c)
  {
    const int z = MirrorIndex(first[2] + c, a->inputSize[2]);
    real      plane = 0.0f;
    for (int b = 0; b <= order; ++b)
    {
      const int                  y = MirrorIndex(first[1] + b, a->inputSize[1]);
      GPUREG_GLOBAL const real * row = InputVoxel(1, a, slab, 0, y, z);
      real                       line = 0.0f;
      for (int t = 0; t <= order; ++t)
      {
        line = MultiplyAdd(wx[t], row[x[t]], line);
      }
      plane = MultiplyAdd(wy[b], line, plane);
    }
    sum = MultiplyAdd(wz[c], plane, sum);
  }
  return sum;
}

/** Interpolates one component as itk::BSplineInterpolateImageFunction. */
GPUREG_REAL_FUNCTION void
ResampleBySpline(int                        order,
                 const ResampleArguments *  a,
                 GPUREG_GLOBAL const real * slab,
                 const int *                cell,
                 const real *               fraction,
                 GPUREG_GLOBAL real *       out)
{
  int  first[3], taps[3];
  real wx[MaximumSplineOrder + 1], wy[MaximumSplineOrder + 1], wz[MaximumSplineOrder + 1];
  taps[0] = ComputeCoefficients(order, a->inputSize[0], cell[0], fraction[0], first, wx);
  taps[1] = ComputeCoefficients(order, a->inputSize[1], cell[1], fraction[1], first + 1, wy);
  taps[2] = ComputeCoefficients(order, a->inputSize[2], cell[2], fraction[2], first + 2, wz);
  const int isInside = taps[0] == order + 1 && taps[1] == order + 1 && first[0] >= 0 && first[1] >= 0 &&
                       first[2] >= 0 && first[0] + order < a->inputSize[0] && first[1] + order < a->inputSize[1] &&
                       first[2] + taps[2] <= a->inputSize[2];
  *out =
    ClampReal(isInside ? SumSupport(order, a, InputVoxel(1, a, slab, first[0], first[1], first[2]), taps[2], wx, wy, wz)
                       : SumMirroredSupport(order, a, slab, first, wx, wy, wz));
}

/** Computes the nearest voxel's value from coefficients, where only these are at hand: the spline takes the voxels' values at the
 *  voxels, integers included. It reads only coefficients in the support of cell. */
GPUREG_REAL_FUNCTION void
ResampleNearestBySpline(int                        order,
                        const ResampleArguments *  a,
                        GPUREG_GLOBAL const real * slab,
                        const int *                cell,
                        const real *               fraction,
                        GPUREG_GLOBAL real *       out)
{
  int  inside[3];
  real rounded[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    inside[axis] = ClampIndex(cell[axis], a->inputSize[axis]);
    rounded[axis] =
      inside[axis] == cell[axis] && cell[axis] + 1 < a->inputSize[axis] && fraction[axis] >= 0.5f ? 1.0f : 0.0f;
  }
  ResampleBySpline(order, a, slab, inside, rounded, out);
  *out = a->isOfIntegers ? FloorOf(*out + 0.5f) : *out;
}

GPUREG_NAMESPACE_END

#endif
