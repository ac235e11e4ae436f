// SPDX-License-Identifier: Apache-2.0
// Warps an image by a field: the value that each voxel of the field's grid comes to, and the derivative of that value by the displacement.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldWarp_h
#define gpureg_kernels_FieldWarp_h

GPUREG_NAMESPACE_BEGIN

/** Says how a field's grid lies on an image. The image's index of a voxel x with displacement u is toImage·x + displacementToImage·u. */
typedef struct FieldWarp
{
  FixedMap  toImage;
  FieldGrid grid;
  float     displacementToImage[9]; /* from mm to voxels of the image, by rows */
  int       imageSize[3];
  int       hasMask;
  int       unused; /* a multiple of 8 bytes in all */
} FieldWarp;

/** Returns row r of displacementToImage·vector. */
GPUREG_FUNCTION float
ToImageVoxels(const FieldWarp * warp, int r, const float * vector)
{
  const float along0 = warp->displacementToImage[3 * r] * vector[0];
  const float along1 = MultiplyAdd(warp->displacementToImage[3 * r + 1], vector[1], along0);
  return MultiplyAdd(warp->displacementToImage[3 * r + 2], vector[2], along1);
}

/** Computes where a voxel comes to in the image. Returns 1 if that is between the centres of the image's outer voxels, otherwise 0.
 *  cell: is the last voxel but one at most, or 0 along an axis of one voxel. */
GPUREG_FUNCTION int
ComputeWarpedPlace(const FieldWarp * warp, GPUREG_GLOBAL const float * field, i64 item, int * cell, float * fraction)
{
  int         index[3];
  int         isInside = 1;
  const float vector[3] = { field[3 * item], field[3 * item + 1], field[3 * item + 2] };
  ComputeVoxelIndex(&warp->grid, item, index);
  for (int d = 0; d < 3; ++d)
  {
    const i64 position = ApplyFixedRow(&warp->toImage, d, index[0], index[1], index[2]);
    const int last = warp->imageSize[d] - 1;
    cell[d] = IntegerPart(position);
    ComputeFraction(position, fraction + d);
    MovePosition(ToImageVoxels(warp, d, vector), cell + d, fraction + d);
    if (last == 0)
    {
      /* An image of one slice has the same value on either side of its centre, by half a voxel. */
      isInside &= (cell[d] == 0 && fraction[d] < 0.5f) || (cell[d] == -1 && fraction[d] >= 0.5f);
      cell[d] = 0;
      fraction[d] = 0.0f;
    }
    else
    {
      isInside &= cell[d] >= 0 && (cell[d] < last || (cell[d] == last && fraction[d] == 0.0f));
      if (cell[d] == last)
      {
        cell[d] = last - 1;
        fraction[d] = 1.0f;
      }
    }
  }
  return isInside;
}

/** Writes the image's value where a voxel comes to, interpolated linearly, and its derivative by the displacement, by mm; both are 0
 *  outside. gradients: as a field. weights: 1 where the voxel comes to the image and to its mask, interpolated, is a half at least,
 *  otherwise 0; is written if there is a mask, which has the image's size. Moves 32 bytes a voxel, and 4 a voxel of the image. */
GPUREG_FUNCTION void
WarpImage(const FieldWarp *           warp,
          GPUREG_GLOBAL const float * field,
          GPUREG_GLOBAL const float * image,
          GPUREG_GLOBAL const float * mask,
          GPUREG_GLOBAL float *       values,
          GPUREG_GLOBAL float *       gradients,
          GPUREG_GLOBAL float *       weights,
          i64                         item)
{
  int       cell[3];
  float     fraction[3];
  float     value = 0.0f;
  float     weight = 0.0f;
  float     slopes[3] = { 0.0f, 0.0f, 0.0f };
  const int isInside = ComputeWarpedPlace(warp, field, item, cell, fraction);
  if (isInside)
  {
    const i64                   x = warp->imageSize[0] > 1 ? 1 : 0;
    const i64                   y = warp->imageSize[1] > 1 ? warp->imageSize[0] : 0;
    const i64                   z = warp->imageSize[2] > 1 ? (i64)warp->imageSize[0] * warp->imageSize[1] : 0;
    const i64                   first = ((i64)cell[2] * warp->imageSize[1] + cell[1]) * warp->imageSize[0] + cell[0];
    GPUREG_GLOBAL const float * p = image + first;
    GPUREG_GLOBAL const float * q = p + z;
    const float                 p0 = MixNumbers(p[0], p[x], fraction[0]);
    const float                 p1 = MixNumbers(p[y], p[y + x], fraction[0]);
    const float                 q0 = MixNumbers(q[0], q[x], fraction[0]);
    const float                 q1 = MixNumbers(q[y], q[y + x], fraction[0]);
    const float                 nearPlane = MixNumbers(p0, p1, fraction[1]);
    const float                 farPlane = MixNumbers(q0, q1, fraction[1]);
    value = MixNumbers(nearPlane, farPlane, fraction[2]);
    slopes[0] = MixNumbers(MixNumbers(p[x] - p[0], p[y + x] - p[y], fraction[1]),
                           MixNumbers(q[x] - q[0], q[y + x] - q[y], fraction[1]),
                           fraction[2]);
    slopes[1] = MixNumbers(p1 - p0, q1 - q0, fraction[2]);
    slopes[2] = farPlane - nearPlane;
    if (warp->hasMask)
    {
      GPUREG_GLOBAL const float * m = mask + first;
      GPUREG_GLOBAL const float * n = m + z;
      const float                 near =
        MixNumbers(MixNumbers(m[0], m[x], fraction[0]), MixNumbers(m[y], m[y + x], fraction[0]), fraction[1]);
      const float far =
        MixNumbers(MixNumbers(n[0], n[x], fraction[0]), MixNumbers(n[y], n[y + x], fraction[0]), fraction[1]);
      weight = MixNumbers(near, far, fraction[2]) >= 0.5f ? 1.0f : 0.0f;
    }
  }
  values[item] = value;
  for (int c = 0; c < 3; ++c)
  {
    const float along0 = warp->displacementToImage[c] * slopes[0];
    const float along1 = MultiplyAdd(warp->displacementToImage[3 + c], slopes[1], along0);
    gradients[3 * item + c] = MultiplyAdd(warp->displacementToImage[6 + c], slopes[2], along1);
  }
  if (warp->hasMask)
  {
    weights[item] = weight;
  }
}

GPUREG_ITEM_KERNEL(WarpImage, 1 << 12, "warping an image by a field");

/** Writes a value as a float from 0 for lowest to 1 for lowest + 1/scale. */
GPUREG_REAL_FUNCTION void
ScaleValue(GPUREG_GLOBAL const real * values, double lowest, double scale, GPUREG_GLOBAL float * scaled, i64 item)
{
  scaled[item] = (float)((values[item] - (real)lowest) * (real)scale);
}

GPUREG_REAL_ITEM_KERNEL(ScaleValue, 1 << 14, "scaling an image's values");

/** Writes the weight of a mask's value: 1 if that is a half at least, otherwise 0. */
GPUREG_REAL_FUNCTION void
WeighMask(GPUREG_GLOBAL const real * mask, GPUREG_GLOBAL float * weights, i64 item)
{
  weights[item] = mask[item] >= (real)0.5f ? 1.0f : 0.0f;
}

GPUREG_REAL_ITEM_KERNEL(WeighMask, 1 << 14, "applying a mask");

/** Multiplies a weight by another one. */
GPUREG_FUNCTION void
MultiplyWeight(GPUREG_GLOBAL const float * factors, GPUREG_GLOBAL float * weights, i64 item)
{
  weights[item] *= factors[item];
}

GPUREG_ITEM_KERNEL(MultiplyWeight, 1 << 14, "applying a mask");

GPUREG_NAMESPACE_END

#endif
