// SPDX-License-Identifier: Apache-2.0
// Data that is prepared from a moving image's values for the metrics: quads, cells of bins, and values packed with their gradient; and the
// gradient of a fixed image, for metrics whose forces point along it.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MovingVoxels_h
#define gpureg_kernels_MovingVoxels_h

GPUREG_NAMESPACE_BEGIN

/** Writes a voxel's value with those of its next neighbours along x, y and both, the edge repeated: see InterpolateQuads. */
GPUREG_FUNCTION void
MakeQuad(const VolumeShape * shape, GPUREG_GLOBAL const float * values, GPUREG_GLOBAL float4 * quads, i64 voxel)
{
  const i64                   row = voxel / shape->size[0];
  const int                   x = (int)(voxel - row * shape->size[0]);
  const int                   y = (int)(row % shape->size[1]);
  const int                   right = x + 1 < shape->size[0] ? shape->stride[0] : 0;
  const int                   down = y + 1 < shape->size[1] ? shape->stride[1] : 0;
  GPUREG_GLOBAL const float * p = values + voxel;
  quads[voxel] = MakeFloat4(p[0], p[right], p[down], p[down + right]);
}

GPUREG_ITEM_KERNEL(MakeQuad, 65536, "making quads");

/** Writes a voxel's bin with those of its next neighbours along x, y and z, one byte each, x fastest; the edge's bins are repeated. */
GPUREG_FUNCTION void
MakeBinCell(const VolumeShape * shape, GPUREG_GLOBAL const u8 * bins, GPUREG_GLOBAL u64 * cells, i64 voxel)
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
  cells[voxel] = cell;
}

GPUREG_ITEM_KERNEL(MakeBinCell, 65536, "making cells of bins");

/** Multiplies a packed voxel's gradient by a factor and replaces its value, by 0 if there are no values. A factor of 0 leaves nothing of
 *  the gradient, whatever it was. */
GPUREG_FUNCTION void
ReplaceValue(
  GPUREG_GLOBAL const float * values, int hasValues, float gradientFactor, GPUREG_GLOBAL float4 * packed, i64 voxel)
{
  const float  value = hasValues ? values[voxel] : 0.0f;
  const float4 old = packed[voxel];
  packed[voxel] = gradientFactor == 0.0f
                    ? MakeFloat4(0.0f, 0.0f, 0.0f, value)
                    : MakeFloat4(gradientFactor * old.x, gradientFactor * old.y, gradientFactor * old.z, value);
}

GPUREG_ITEM_KERNEL(ReplaceValue, 65536, "packing values");

/** The factors by which a derivative along one of an image's axes adds to the gradient along each physical axis. */
typedef struct GradientColumn
{
  float entries[3];
} GradientColumn;

/** Returns a gradient with a derivative added to it, as column says; w stays. Far from any edge a recursive Gaussian leaves denormal
 *  numbers, which processors compute slowly: they become 0. */
GPUREG_FUNCTION float4
AddDerivative(const float * column, float derivative, float4 gradient)
{
  const float d = LargerOf(derivative, -derivative) > 1e-20f ? derivative : 0.0f;
  return MakeFloat4(MultiplyAdd(column[0], d, gradient.x),
                    MultiplyAdd(column[1], d, gradient.y),
                    MultiplyAdd(column[2], d, gradient.z),
                    gradient.w);
}

/** Adds an image's derivative along one of its axes to a packed voxel's gradient. */
GPUREG_FUNCTION void
AddToPacked(const GradientColumn *      column,
            GPUREG_GLOBAL const float * derivative,
            GPUREG_GLOBAL float4 *      packed,
            i64                         voxel)
{
  packed[voxel] = AddDerivative(column->entries, derivative[voxel], packed[voxel]);
}

GPUREG_ITEM_KERNEL(AddToPacked, 65536, "packing derivatives");

/** Multiplies a gradient, three floats, by a factor; 0 leaves nothing of it, whatever it was. */
GPUREG_FUNCTION void
ScaleGradient(float factor, GPUREG_GLOBAL float * gradients, i64 voxel)
{
  GPUREG_GLOBAL float * gradient = gradients + 3 * voxel;
  for (int d = 0; d < 3; ++d)
  {
    gradient[d] = factor == 0.0f ? 0.0f : factor * gradient[d];
  }
}

GPUREG_ITEM_KERNEL(ScaleGradient, 65536, "scaling gradients");

/** Adds an image's derivative along one of its axes to a gradient, three floats. */
GPUREG_FUNCTION void
AddToGradient(const GradientColumn *      column,
              GPUREG_GLOBAL const float * derivative,
              GPUREG_GLOBAL float *       gradients,
              i64                         voxel)
{
  GPUREG_GLOBAL float * gradient = gradients + 3 * voxel;
  const float4          old = MakeFloat4(gradient[0], gradient[1], gradient[2], 0.0f);
  const float4          sum = AddDerivative(column->entries, derivative[voxel], old);
  gradient[0] = sum.x;
  gradient[1] = sum.y;
  gradient[2] = sum.z;
}

GPUREG_ITEM_KERNEL(AddToGradient, 65536, "adding derivatives");

GPUREG_NAMESPACE_END

#endif
