// SPDX-License-Identifier: Apache-2.0
// Interpolation of a volume at a position, as ITK's interpolators define it, in software: the texture unit's 8-bit fractions would miss an
// accuracy of 1e-5.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Interpolation_h
#define gpureg_kernels_Interpolation_h

GPUREG_NAMESPACE_BEGIN

/** The eight neighbours of a position: the offset of the first one, and the fractions between them; VolumeShape::stride leads to the
 *  others. A position in the half voxel around the volume is moved to the volume's edge, as in itk::LinearInterpolateImageFunction. On
 *  the last voxel the fraction is 1 instead of 0, so that every neighbour is inside. */
typedef struct LinearCell
{
  i64   offset;
  float fx, fy, fz;
} LinearCell;

/** Returns the first of the two voxels around a position along an axis, and computes the fraction between them. There is no branch:
 *  where the position is moved to the edge, the fraction becomes 0 or 1. */
GPUREG_FUNCTION int
LocateLinearNeighbour(i64 position, int lastCell, float * fraction)
{
  const int cell = IntegerPart(position);
  const int notBefore = cell > 0 ? cell : 0;
  const int inside = notBefore < lastCell ? notBefore : lastCell;
  *fraction = SaturateOf(MultiplyAdd((float)(u32)position, GPUREG_FIXED_UNIT, (float)(cell - inside)));
  return inside;
}

GPUREG_FUNCTION LinearCell
LocateLinearCell(const VolumeShape * shape, const i64 * position)
{
  LinearCell cell;
  const int  x = LocateLinearNeighbour(position[0], shape->lastCell[0], &cell.fx);
  const int  y = LocateLinearNeighbour(position[1], shape->lastCell[1], &cell.fy);
  const int  z = LocateLinearNeighbour(position[2], shape->lastCell[2], &cell.fz);
  cell.offset = VoxelOffset(shape, x, y, z);
  return cell;
}

GPUREG_FUNCTION float
Mix(float a, float b, float fraction)
{
  return MultiplyAdd(fraction, b - a, a);
}

GPUREG_FUNCTION float4
Mix4(float4 a, float4 b, float fraction)
{
  return MultiplyAdd4(fraction, Subtract4(b, a), a);
}

/** Interpolates a scalar volume linearly. */
GPUREG_FUNCTION float
InterpolateLinear(GPUREG_GLOBAL const float * volume, const VolumeShape * shape, const i64 * position)
{
  const LinearCell            cell = LocateLinearCell(shape, position);
  GPUREG_GLOBAL const float * p = volume + cell.offset;
  GPUREG_GLOBAL const float * q = p + shape->stride[2];
  const int                   x = shape->stride[0];
  const int                   y = shape->stride[1];
  const float                 a = Mix(p[0], p[x], cell.fx);
  const float                 b = Mix(p[y], p[y + x], cell.fx);
  const float                 c = Mix(q[0], q[x], cell.fx);
  const float                 d = Mix(q[y], q[y + x], cell.fx);
  return Mix(Mix(a, b, cell.fy), Mix(c, d, cell.fy), cell.fz);
}

/** Interpolates linearly in a volume of quads, each of which holds v(x, y), v(x+1, y), v(x, y+1) and v(x+1, y+1), the edge repeated.
 *  Four times the memory, but two 16-byte loads replace eight loads, where the number of loads limits a device. */
GPUREG_FUNCTION float
InterpolateQuads(GPUREG_GLOBAL const float4 * volume, const VolumeShape * shape, const i64 * position)
{
  float fx, fy, fz;
  // No cell is the last one along x and y, since the edge is repeated.
  const int x = LocateLinearNeighbour(position[0], 0x7FFFFFFF, &fx);
  const int y = LocateLinearNeighbour(position[1], 0x7FFFFFFF, &fy);
  const int z = LocateLinearNeighbour(position[2], shape->lastCell[2], &fz);

  GPUREG_GLOBAL const float4 * p = volume + VoxelOffset(shape, x, y, z);
  const float4                 near = p[0];
  const float4                 far = p[shape->stride[2]];
  const float                  c = Mix(Mix(near.x, near.y, fx), Mix(near.z, near.w, fx), fy);
  const float                  d = Mix(Mix(far.x, far.y, fx), Mix(far.z, far.w, fx), fy);
  return Mix(c, d, fz);
}

/** Interpolates between eight neighbours, with the operations of InterpolateLinear and InterpolateQuads, and computes the derivative by
 *  the position along each axis. near: the neighbours in the first plane, as a quad; far: those in the next plane. */
GPUREG_FUNCTION float
MixWithSlopes(float4 near, float4 far, float fx, float fy, float fz, float * slopes)
{
  const float a = Mix(near.x, near.y, fx);
  const float b = Mix(near.z, near.w, fx);
  const float c = Mix(far.x, far.y, fx);
  const float d = Mix(far.z, far.w, fx);
  const float nearSlope = Mix(near.y - near.x, near.w - near.z, fy);
  const float farSlope = Mix(far.y - far.x, far.w - far.z, fy);
  const float first = Mix(a, b, fy);
  const float second = Mix(c, d, fy);
  slopes[0] = Mix(nearSlope, farSlope, fz);
  slopes[1] = Mix(b - a, d - c, fz);
  slopes[2] = second - first;
  return Mix(first, second, fz);
}

/** Does what InterpolateLinear does, and computes the derivatives: 0 along an axis on whose edge the position is, or beyond it. */
GPUREG_FUNCTION float
InterpolateLinearWithSlopes(GPUREG_GLOBAL const float * volume,
                            const VolumeShape *         shape,
                            const i64 *                 position,
                            float *                     slopes)
{
  const LinearCell            cell = LocateLinearCell(shape, position);
  GPUREG_GLOBAL const float * p = volume + cell.offset;
  GPUREG_GLOBAL const float * q = p + shape->stride[2];
  const int                   x = shape->stride[0];
  const int                   y = shape->stride[1];
  return MixWithSlopes(
    MakeFloat4(p[0], p[x], p[y], p[y + x]), MakeFloat4(q[0], q[x], q[y], q[y + x]), cell.fx, cell.fy, cell.fz, slopes);
}

/** Does what InterpolateQuads does, and computes the derivatives as InterpolateLinearWithSlopes does. */
GPUREG_FUNCTION float
InterpolateQuadsWithSlopes(GPUREG_GLOBAL const float4 * volume,
                           const VolumeShape *          shape,
                           const i64 *                  position,
                           float *                      slopes)
{
  float                        fx, fy, fz;
  const int                    x = LocateLinearNeighbour(position[0], 0x7FFFFFFF, &fx);
  const int                    y = LocateLinearNeighbour(position[1], 0x7FFFFFFF, &fy);
  const int                    z = LocateLinearNeighbour(position[2], shape->lastCell[2], &fz);
  GPUREG_GLOBAL const float4 * p = volume + VoxelOffset(shape, x, y, z);
  return MixWithSlopes(p[0], p[shape->stride[2]], fx, fy, fz, slopes);
}

/** Interpolates a volume of four components linearly, in the scalar's order of operations, so that a component that repeats a scalar
 *  volume gives the scalar's value to the bit. */
GPUREG_FUNCTION float4
InterpolateLinear4(GPUREG_GLOBAL const float4 * volume, const VolumeShape * shape, const i64 * position)
{
  const LinearCell             cell = LocateLinearCell(shape, position);
  GPUREG_GLOBAL const float4 * p = volume + cell.offset;
  GPUREG_GLOBAL const float4 * q = p + shape->stride[2];
  const int                    x = shape->stride[0];
  const int                    y = shape->stride[1];
  const float4                 a = Mix4(p[0], p[x], cell.fx);
  const float4                 b = Mix4(p[y], p[y + x], cell.fx);
  const float4                 c = Mix4(q[0], q[x], cell.fx);
  const float4                 d = Mix4(q[y], q[y + x], cell.fx);
  return Mix4(Mix4(a, b, cell.fy), Mix4(c, d, cell.fy), cell.fz);
}

/** Returns the voxel that stands for an index: orders 0 and 1 repeat the edge voxel; higher ones mirror about it, as does the prefilter
 *  that makes the coefficients (itk::BSplineInterpolateImageFunction). */
GPUREG_FUNCTION int
SplineNeighbour(int order, int index, int size)
{
  if (index >= 0 && index < size)
  {
    return index;
  }
  if (order <= 1 || size == 1)
  {
    return index < 0 ? 0 : size - 1;
  }
  const int period = 2 * (size - 1);
  int       wrapped = index % period;
  wrapped = wrapped < 0 ? wrapped + period : wrapped;
  return wrapped < size ? wrapped : period - wrapped;
}

/** Computes the weights along one axis, and the first sample to which they belong; returns their number. Splines are centred on the
 *  samples, so an even order has its knots half-way between them. Along an axis of one voxel, as z for a two-dimensional image, there is
 *  one weight, 1, since all would belong to that voxel. */
GPUREG_FUNCTION int
ComputeSplineSupport(int order, int size, i64 position, int * first, float * weights)
{
  if (size == 1)
  {
    *first = 0;
    weights[0] = 1.0f;
    return 1;
  }
  const i64 shifted = (order & 1) ? position : position + GPUREG_FIXED_HALF;
  SplineWeights(order, FractionOf(shifted), weights);
  *first = IntegerPart(shifted) - order / 2;
  return order + 1;
}

/** Interpolates a cubic spline whose 4 × 4 × 4 coefficients, or 4 × 4 of a single slice, are all inside, which is the case nearly
 *  everywhere; returns 0 if they are not. Rows of four are summed at a time, and x at the very end, so that a compiler multiplies a row
 *  by one instruction. */
GPUREG_FUNCTION int
InterpolateCubicInside(GPUREG_GLOBAL const float * coefficients,
                       const VolumeShape *         shape,
                       const i64 *                 position,
                       float *                     value)
{
  float     wx[4], wy[4], wz[4];
  int       z;
  const int x = IntegerPart(position[0]) - 1;
  const int y = IntegerPart(position[1]) - 1;
  const int planes = ComputeSplineSupport(3, shape->size[2], position[2], &z, wz);
  if (x < 0 || y < 0 || z < 0 || x + 4 > shape->size[0] || y + 4 > shape->size[1] || z + planes > shape->size[2])
  {
    return 0;
  }
  CubicBSplineWeights(FractionOf(position[0]), wx);
  CubicBSplineWeights(FractionOf(position[1]), wy);
  GPUREG_GLOBAL const float * corner = coefficients + VoxelOffset(shape, x, y, z);
  float4                      sum = MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f);
  // Loops of constant length are unrolled, which keeps the weights in registers.
  for (int c = 0; c < 4 && c < planes; ++c, corner += shape->stride[2])
  {
    GPUREG_GLOBAL const float * row = corner;
    float4                      plane = MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int b = 0; b < 4; ++b, row += shape->stride[1])
    {
      plane = MultiplyAdd4(wy[b], LoadFloat4(row), plane);
    }
    sum = MultiplyAdd4(wz[c], plane, sum);
  }
  *value = MultiplyAdd(wx[0], sum.x, wx[1] * sum.y) + MultiplyAdd(wx[2], sum.z, wx[3] * sum.w);
  return 1;
}

/** Interpolates a B-spline of order 0 (nearest voxel) to 5 from its coefficients. */
GPUREG_LARGE_FUNCTION float
InterpolateBSpline(GPUREG_GLOBAL const float * coefficients, const VolumeShape * shape, int order, const i64 * position)
{
  float sum = 0.0f;
  if (order == 3 && InterpolateCubicInside(coefficients, shape, position, &sum))
  {
    return sum;
  }
  float     wx[MaximumSplineOrder + 1], wy[MaximumSplineOrder + 1], wz[MaximumSplineOrder + 1];
  int       x0, y0, z0;
  int       x[MaximumSplineOrder + 1];
  const int columns = ComputeSplineSupport(order, shape->size[0], position[0], &x0, wx);
  const int rows = ComputeSplineSupport(order, shape->size[1], position[1], &y0, wy);
  const int planes = ComputeSplineSupport(order, shape->size[2], position[2], &z0, wz);
  for (int a = 0; a < columns; ++a)
  {
    x[a] = SplineNeighbour(order, x0 + a, shape->size[0]);
  }
  for (int c = 0; c < planes; ++c)
  {
    const int z = SplineNeighbour(order, z0 + c, shape->size[2]);
    float     plane = 0.0f;
    for (int b = 0; b < rows; ++b)
    {
      const int                   y = SplineNeighbour(order, y0 + b, shape->size[1]);
      GPUREG_GLOBAL const float * row = coefficients + VoxelOffset(shape, 0, y, z);
      float                       line = 0.0f;
      for (int a = 0; a < columns; ++a)
      {
        line = MultiplyAdd(wx[a], row[x[a]], line);
      }
      plane = MultiplyAdd(wy[b], line, plane);
    }
    sum = MultiplyAdd(wz[c], plane, sum);
  }
  return sum;
}

GPUREG_NAMESPACE_END

#endif
