// SPDX-License-Identifier: Apache-2.0
// Interpolation of a volume at a continuous index, as ITK's interpolators define it.
// The software's own arithmetic, not the texture unit's, whose 8-bit fractions miss 1e-5.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Interpolation_h
#define gpureg_kernels_Interpolation_h

GPUREG_NAMESPACE_BEGIN

/** The eight neighbours of a continuous index: the offset of the first, the strides to the others
 *  (0 where the neighbour would leave the volume, so the edge voxel is repeated, as
 *  itk::LinearInterpolateImageFunction does) and the fractions between them. */
typedef struct LinearCell
{
  i64   offset;
  i64   strideY;
  i64   strideZ;
  int   strideX;
  float fx, fy, fz;
} LinearCell;

GPUREG_FUNCTION float
ClampIndex(float x, int size)
{
  const float last = (float)(size - 1);
  const float low = x < 0.0f ? 0.0f : x;
  return low > last ? last : low;
}

GPUREG_FUNCTION LinearCell
FindLinearCell(const int * size, const float * index)
{
  const float x = ClampIndex(index[0], size[0]);
  const float y = ClampIndex(index[1], size[1]);
  const float z = ClampIndex(index[2], size[2]);
  const int   ix = (int)x;
  const int   iy = (int)y;
  const int   iz = (int)z;
  LinearCell  cell;
  cell.offset = VoxelOffset(size, ix, iy, iz);
  cell.strideX = ix + 1 < size[0] ? 1 : 0;
  cell.strideY = iy + 1 < size[1] ? size[0] : 0;
  cell.strideZ = iz + 1 < size[2] ? (i64)size[0] * size[1] : 0;
  cell.fx = x - (float)ix;
  cell.fy = y - (float)iy;
  cell.fz = z - (float)iz;
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
  return MakeFloat4(Mix(a.x, b.x, fraction), Mix(a.y, b.y, fraction), Mix(a.z, b.z, fraction), Mix(a.w, b.w, fraction));
}

/** Trilinear interpolation of a scalar volume. */
GPUREG_FUNCTION float
InterpolateLinear(GPUREG_GLOBAL const float * volume, const int * size, const float * index)
{
  const LinearCell              cell = FindLinearCell(size, index);
  GPUREG_GLOBAL const float *   p = volume + cell.offset;
  GPUREG_GLOBAL const float *   q = p + cell.strideZ;
  const float                   a = Mix(p[0], p[cell.strideX], cell.fx);
  const float                   b = Mix(p[cell.strideY], p[cell.strideY + cell.strideX], cell.fx);
  const float                   c = Mix(q[0], q[cell.strideX], cell.fx);
  const float                   d = Mix(q[cell.strideY], q[cell.strideY + cell.strideX], cell.fx);
  return Mix(Mix(a, b, cell.fy), Mix(c, d, cell.fy), cell.fz);
}

/** Trilinear interpolation of a volume of four components, with the scalar's order of operations,
 *  so that a component that repeats a scalar volume gives the scalar's value to the bit. */
GPUREG_FUNCTION float4
InterpolateLinear4(GPUREG_GLOBAL const float4 * volume, const int * size, const float * index)
{
  const LinearCell             cell = FindLinearCell(size, index);
  GPUREG_GLOBAL const float4 * p = volume + cell.offset;
  GPUREG_GLOBAL const float4 * q = p + cell.strideZ;
  const float4                 a = Mix4(p[0], p[cell.strideX], cell.fx);
  const float4                 b = Mix4(p[cell.strideY], p[cell.strideY + cell.strideX], cell.fx);
  const float4                 c = Mix4(q[0], q[cell.strideX], cell.fx);
  const float4                 d = Mix4(q[cell.strideY], q[cell.strideY + cell.strideX], cell.fx);
  return Mix4(Mix4(a, b, cell.fy), Mix4(c, d, cell.fy), cell.fz);
}

/** Orders 0 and 1 repeat the edge voxel; higher ones mirror about it, as the prefilter that made
 *  the coefficients did (itk::BSplineInterpolateImageFunction). */
GPUREG_FUNCTION int
SplineNeighbour(int order, int index, int size)
{
  if (order <= 1 || size == 1)
  {
    return index < 0 ? 0 : (index >= size ? size - 1 : index);
  }
  const int period = 2 * (size - 1);
  int       wrapped = index % period;
  wrapped = wrapped < 0 ? wrapped + period : wrapped;
  return wrapped < size ? wrapped : period - wrapped;
}

/** B-spline interpolation of order 0 (nearest voxel) to 5, from coefficients. */
GPUREG_FUNCTION float
InterpolateBSpline(GPUREG_GLOBAL const float * coefficients, const int * size, int order, const float * index)
{
  float     wx[MaximumSplineOrder + 1], wy[MaximumSplineOrder + 1], wz[MaximumSplineOrder + 1];
  const int x0 = BSplineWeights(order, index[0], wx);
  const int y0 = BSplineWeights(order, index[1], wy);
  const int z0 = BSplineWeights(order, index[2], wz);
  float     sum = 0.0f;
  for (int c = 0; c <= order; ++c)
  {
    const int z = SplineNeighbour(order, z0 + c, size[2]);
    float     plane = 0.0f;
    for (int b = 0; b <= order; ++b)
    {
      const int   y = SplineNeighbour(order, y0 + b, size[1]);
      const i64   row = VoxelOffset(size, 0, y, z);
      float       line = 0.0f;
      for (int a = 0; a <= order; ++a)
      {
        line = MultiplyAdd(wx[a], coefficients[row + SplineNeighbour(order, x0 + a, size[0])], line);
      }
      plane = MultiplyAdd(wy[b], line, plane);
    }
    sum = MultiplyAdd(wz[c], plane, sum);
  }
  return sum;
}

GPUREG_NAMESPACE_END

#endif
