// SPDX-License-Identifier: Apache-2.0
// Fixed-point samples, for evaluations with few samples. With few samples, rounding each value to float shows in the derivative, above all
// if most of them lie in a flat background, so that few forces remain and nearly cancel. So moving values, as all positions, are integers,
// in units far below what a metric can tell apart: the same bits on every device, with doubles or without. The formulas are those of
// Samples.h.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FixedPointSamples_h
#define gpureg_kernels_FixedPointSamples_h

GPUREG_NAMESPACE_BEGIN

/** A LinearCell with fractions in units of 2^-32, from 0 to 1. */
typedef struct FixedPointCell
{
  i64 offset;
  i64 fraction[3];
} FixedPointCell;

GPUREG_FUNCTION FixedPointCell
LocateFixedPointCell(const VolumeShape * shape, const i64 * position)
{
  FixedPointCell cell;
  int            voxel[3];
  for (int d = 0; d < 3; ++d)
  {
    const i64 end = (i64)(shape->size[d] - 1) << 32;
    const i64 inside = position[d] < 0 ? 0 : (position[d] < end ? position[d] : end);
    const int last = shape->size[d] > 1 ? shape->size[d] - 2 : 0;
    voxel[d] = IntegerPart(inside) < last ? IntegerPart(inside) : last;
    cell.fraction[d] = inside - ((i64)voxel[d] << 32);
  }
  cell.offset = VoxelOffset(shape, voxel[0], voxel[1], voxel[2]);
  return cell;
}

GPUREG_FUNCTION i64
MixFixed(i64 a, i64 b, i64 fraction)
{
  return a + MultiplyFixed(b - a, fraction);
}

/** Interpolates linearly between the corners of a cell, x fastest, at a fraction along each axis. Overwrites corners. */
GPUREG_FUNCTION i64
MixEightFixed(i64 * corners, const i64 * fraction)
{
  for (int axis = 0, count = 4; axis < 3; ++axis, count /= 2)
  {
    for (int pair = 0; pair < count; ++pair)
    {
      corners[pair] = MixFixed(corners[2 * pair], corners[2 * pair + 1], fraction[axis]);
    }
  }
  return corners[0];
}

/** Moves a position by the displacement of a voxel, or of a sample that has its own displacement. */
GPUREG_FUNCTION void
MoveInFixedPoint(const SampleVolumes * v, i64 voxel, i64 * position)
{
  for (int r = 0; r < 3; ++r)
  {
    position[r] += v->displacementInFixedPoint[3 * voxel + r];
  }
}

/** Moves a position by the displacement interpolated at a point between voxels. */
GPUREG_LARGE_FUNCTION void
MoveBetweenInFixedPoint(const SampleVolumes * v, const VolumeShape * shape, const i64 * point, i64 * position)
{
  const FixedPointCell cell = LocateFixedPointCell(shape, point);
  for (int r = 0; r < 3; ++r)
  {
    i64 moves[8];
    for (int corner = 0; corner < 8; ++corner)
    {
      const i64 node = cell.offset + ((corner & 1) ? shape->stride[0] : 0) + ((corner & 2) ? shape->stride[1] : 0) +
                       ((corner & 4) ? shape->stride[2] : 0);
      moves[corner] = v->displacementInFixedPoint[3 * node + r];
    }
    position[r] += MixEightFixed(moves, cell.fraction);
  }
}

/** Interpolates linearly in a volume of integers. At a voxel, where images in the middle of a registration are sampled, it reads that voxel
 *  alone. Between voxels it reads all eight at once: a test of each axis would delay the reads behind it. */
GPUREG_LARGE_FUNCTION i64
InterpolateFixed(GPUREG_GLOBAL const i64 * volume, const VolumeShape * shape, const i64 * position)
{
  const FixedPointCell      cell = LocateFixedPointCell(shape, position);
  GPUREG_GLOBAL const i64 * p = volume + cell.offset;
  const int                 x = shape->stride[0];
  const int                 y = shape->stride[1];
  const i64                 z = shape->stride[2];
  // At the end of an axis a fraction is 1, whose last 32 bits are 0, too.
  const i64 between = (cell.fraction[0] | cell.fraction[1] | cell.fraction[2]) & 0xFFFFFFFF;
  if (between == 0)
  {
    return p[(cell.fraction[0] != 0 ? x : 0) + (cell.fraction[1] != 0 ? y : 0) + (cell.fraction[2] != 0 ? z : 0)];
  }
  GPUREG_GLOBAL const i64 * q = p + z;
  const i64                 a = MixFixed(p[0], p[x], cell.fraction[0]);
  const i64                 b = MixFixed(p[y], p[y + x], cell.fraction[0]);
  const i64                 c = MixFixed(q[0], q[x], cell.fraction[0]);
  const i64                 d = MixFixed(q[y], q[y + x], cell.fraction[0]);
  return MixFixed(MixFixed(a, b, cell.fraction[1]), MixFixed(c, d, cell.fraction[1]), cell.fraction[2]);
}

/** Computes SplineWeights in units of 2^-32. One of the largest weights absorbs the rounding errors, so that they sum to 1. */
GPUREG_FUNCTION void
FixedSplineWeights(int order, i64 t, i64 * weights)
{
  i64 others = 0;
  weights[0] = GPUREG_FIXED_ONE;
  for (int degree = 1; degree <= order; ++degree)
  {
    i64 carried = 0;
    for (int r = 0; r < degree; ++r)
    {
      const i64 share = weights[r] / degree;
      weights[r] = carried + MultiplyFixed(((i64)(r + 1) << 32) - t, share);
      carried = MultiplyFixed(t + ((i64)(degree - 1 - r) << 32), share);
    }
    weights[degree] = carried;
  }
  for (int r = 0; r <= order; ++r)
  {
    others += r != order / 2 ? weights[r] : 0;
  }
  weights[order / 2] = GPUREG_FIXED_ONE - others;
}

/** Computes the weights along one axis, and the first sample to which they belong: see ComputeSplineSupport. */
GPUREG_FUNCTION int
ComputeFixedSplineSupport(int order, int size, i64 position, int * first, i64 * weights)
{
  if (size == 1)
  {
    *first = 0;
    weights[0] = GPUREG_FIXED_ONE;
    return 1;
  }
  const i64 shifted = (order & 1) ? position : position + GPUREG_FIXED_HALF;
  FixedSplineWeights(order, (i64)(u32)shifted, weights);
  *first = IntegerPart(shifted) - order / 2;
  return order + 1;
}

/** Interpolates a B-spline of order 0 (nearest voxel) to 5 from its coefficients. */
GPUREG_LARGE_FUNCTION i64
InterpolateFixedBSpline(GPUREG_GLOBAL const i64 * coefficients,
                        const VolumeShape *       shape,
                        int                       order,
                        const i64 *               position)
{
  i64       wx[MaximumSplineOrder + 1], wy[MaximumSplineOrder + 1], wz[MaximumSplineOrder + 1];
  int       x0, y0, z0;
  int       x[MaximumSplineOrder + 1];
  i64       sum = 0;
  const int columns = ComputeFixedSplineSupport(order, shape->size[0], position[0], &x0, wx);
  const int rows = ComputeFixedSplineSupport(order, shape->size[1], position[1], &y0, wy);
  const int planes = ComputeFixedSplineSupport(order, shape->size[2], position[2], &z0, wz);
  for (int a = 0; a < columns; ++a)
  {
    x[a] = SplineNeighbour(order, x0 + a, shape->size[0]);
  }
  for (int c = 0; c < planes; ++c)
  {
    const int z = SplineNeighbour(order, z0 + c, shape->size[2]);
    i64       plane = 0;
    for (int b = 0; b < rows; ++b)
    {
      const int                 y = SplineNeighbour(order, y0 + b, shape->size[1]);
      GPUREG_GLOBAL const i64 * row = coefficients + VoxelOffset(shape, 0, y, z);
      i64                       line = 0;
      for (int a = 0; a < columns; ++a)
      {
        line += MultiplyFixed(row[x[a]], wx[a]);
      }
      plane += MultiplyFixed(line, wy[b]);
    }
    sum += MultiplyFixed(plane, wz[c]);
  }
  return sum;
}

/** Returns a moving value rounded to the pixel type, as in ITK: to a float's digits of the value itself, not of its difference to the
 *  minimum. */
GPUREG_FUNCTION i64
RoundFixedPointValue(const SampleMaps * maps, i64 value)
{
  return maps->roundsToFloat ? (i64)(float)(value + maps->minimum) - maps->minimum : value;
}

/** Computes the moving value at a position in fixed point, in units of a value, rounded to the pixel type. Returns 0 if the sample is not
 *  valid. */
GPUREG_LARGE_FUNCTION int
SampleFixedPointValue(int                     variant,
                      const SampleArguments * a,
                      const SampleMaps *      maps,
                      const SampleVolumes *   v,
                      const i64 *             position,
                      i64 *                   value)
{
  if (!IsSampleValid(variant, a, maps, v, position))
  {
    return 0;
  }
  const i64 exact = VariantHas(variant, InterpolatesSpline)
                      ? InterpolateFixedBSpline(v->coefficientsInFixedPoint, &a->movingShape, a->splineOrder, position)
                      : InterpolateFixed(v->movingInFixedPoint, &a->movingShape, position);
  *value = RoundFixedPointValue(maps, exact);
  return 1;
}

/** Returns CentralDifference, from fixed-point values. */
GPUREG_FUNCTION float
FixedPointDifference(
  const SampleArguments * a, const SampleMaps * maps, const SampleVolumes * v, const i64 * position, int axis)
{
  i64 before[3], behind[3];
  if (!ComputeDifferencePositions(a, maps, position, axis, before, behind))
  {
    return 0.0f;
  }
  return (float)(InterpolateFixed(v->movingInFixedPoint, &a->movingShape, behind) -
                 InterpolateFixed(v->movingInFixedPoint, &a->movingShape, before)) *
         (maps->unitsToValues * a->inverseSpacing[axis]);
}

/** Computes the gradient of the scaled moving values at a position, per mm. */
GPUREG_LARGE_FUNCTION void
SampleFixedPointGradient(int                     variant,
                         const SampleArguments * a,
                         const SampleMaps *      maps,
                         const SampleVolumes *   v,
                         const i64 *             position,
                         float *                 gradient)
{
  if (VariantHas(variant, GradientByDifferences))
  {
    for (int axis = 0; axis < 3; ++axis)
    {
      gradient[axis] = FixedPointDifference(a, maps, v, position, axis);
    }
    return;
  }
  const float4 both = InterpolateLinear4(v->gradient, &a->movingShape, position);
  gradient[0] = both.x;
  gradient[1] = both.y;
  gradient[2] = both.z;
}

GPUREG_NAMESPACE_END

#endif
