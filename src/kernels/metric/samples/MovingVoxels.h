// SPDX-License-Identifier: Apache-2.0
// Data that is prepared from a moving image's values for the metrics: quads, cells of bins, and values packed with their gradient; and the
// gradient of a fixed image, for metrics whose forces point along it.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MovingVoxels_h
#define gpureg_kernels_MovingVoxels_h

GPUREG_NAMESPACE_BEGIN

/** Returns a voxel's value with those of its next neighbours along x, y and both, the edge repeated: see InterpolateQuads. */
GPUREG_FUNCTION float4
FindQuad(GPUREG_GLOBAL const float * values, const VolumeShape * shape, i64 voxel)
{
  const i64                   row = voxel / shape->size[0];
  const int                   x = (int)(voxel - row * shape->size[0]);
  const int                   y = (int)(row % shape->size[1]);
  const int                   right = x + 1 < shape->size[0] ? shape->stride[0] : 0;
  const int                   down = y + 1 < shape->size[1] ? shape->stride[1] : 0;
  GPUREG_GLOBAL const float * p = values + voxel;
  return MakeFloat4(p[0], p[right], p[down], p[down + right]);
}

/** Returns a voxel's bin with those of its next neighbours along x, y and z, one byte each, x fastest; the edge's bins are repeated. */
GPUREG_FUNCTION u64
FindBinCell(GPUREG_GLOBAL const u8 * bins, const VolumeShape * shape, i64 voxel)
{
  const i64                row = voxel / shape->size[0];
  const i64                slice = row / shape->size[1];
  const int                right = voxel - row * shape->size[0] + 1 < shape->size[0] ? shape->stride[0] : 0;
  const int                down = row - slice * shape->size[1] + 1 < shape->size[1] ? shape->stride[1] : 0;
  const int                behind = slice + 1 < shape->size[2] ? shape->stride[2] : 0;
  GPUREG_GLOBAL const u8 * p = bins + voxel;
  u64                      cell = 0;
  for (int corner = 0; corner < 8; ++corner)
  {
    const i64 next = (i64)(corner & 1 ? right : 0) + (corner & 2 ? down : 0) + (corner & 4 ? behind : 0);
    cell |= (u64)p[next] << (8 * corner);
  }
  return cell;
}

/** Returns a voxel's packed gradient, multiplied by a factor, with another value. A factor of 0 gives a gradient of 0, even if it was
 *  not finite. */
GPUREG_FUNCTION float4
ReplaceValue(float4 packed, float gradientFactor, float value)
{
  return gradientFactor == 0.0f
           ? MakeFloat4(0.0f, 0.0f, 0.0f, value)
           : MakeFloat4(gradientFactor * packed.x, gradientFactor * packed.y, gradientFactor * packed.z, value);
}

/** Adds an image's derivative along one of its axes to the gradient along physical axes. column: the direction of that axis. Far from
 *  any edge a recursive Gaussian leaves denormal numbers, with which processors compute slowly: they become 0. */
GPUREG_FUNCTION float4
AddDerivative(float4 packed, float derivative, const float * column)
{
  const float d = LargerOf(derivative, -derivative) > 1e-20f ? derivative : 0.0f;
  return MakeFloat4(MultiplyAdd(column[0], d, packed.x),
                    MultiplyAdd(column[1], d, packed.y),
                    MultiplyAdd(column[2], d, packed.z),
                    packed.w);
}

/** Multiplies a gradient, three floats, by a factor. A factor of 0 gives 0, even if the gradient was not finite. */
GPUREG_FUNCTION void
ScaleGradient(GPUREG_GLOBAL float * gradient, float factor)
{
  for (int d = 0; d < 3; ++d)
  {
    gradient[d] = factor == 0.0f ? 0.0f : factor * gradient[d];
  }
}

/** Adds a derivative as AddDerivative does, to a gradient that is not packed. */
GPUREG_FUNCTION void
AddToGradient(GPUREG_GLOBAL float * gradient, float derivative, const float * column)
{
  const float4 sum = AddDerivative(MakeFloat4(gradient[0], gradient[1], gradient[2], 0.0f), derivative, column);
  gradient[0] = sum.x;
  gradient[1] = sum.y;
  gradient[2] = sum.z;
}

GPUREG_NAMESPACE_END

#endif
