// SPDX-License-Identifier: Apache-2.0
// An image and its mask on the grid of a field, where the field leads: so itk::SyNImageRegistrationMethod brings both images into the
// middle. As itk::ResampleImageFilter with linear and with nearest neighbour interpolation, 0 outside.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MiddleImage_h
#define gpureg_kernels_MiddleImage_h

GPUREG_NAMESPACE_BEGIN

/** Finds where a voxel of a->grid comes to in an image, whose grid a->fieldGrid is: a->toField maps the voxel's index there, and
 *  a->fieldGrid.toIndex the displacement. Says whether that is in the image's buffer. */
GPUREG_FUNCTION int
MoveToImage(const FieldResampling * a, GPUREG_GLOBAL const float * field, i64 item, int * cell, float * fraction)
{
  int         index[3];
  const float vector[3] = { field[3 * item], field[3 * item + 1], field[3 * item + 2] };
  FindVoxelIndex(&a->grid, item, index);
  for (int d = 0; d < 3; ++d)
  {
    const i64 position = ApplyFixedRow(&a->toField, d, index[0], index[1], index[2]);
    cell[d] = CellOf(position);
    FindFraction(position, fraction + d);
    MovePosition(ToVoxels(&a->fieldGrid, d, vector), cell + d, fraction + d);
  }
  return IsInsideGrid(&a->fieldGrid, cell, fraction);
}

/** Writes the image's value where a voxel comes to, interpolated linearly. Moves 16 bytes a voxel, and 4 a voxel of the image. */
GPUREG_FUNCTION void
ResampleMiddleImage(const FieldResampling *     a,
                    GPUREG_GLOBAL const float * field,
                    GPUREG_GLOBAL const float * image,
                    GPUREG_GLOBAL float *       values,
                    i64                         item)
{
  int   cell[3];
  float fraction[3];
  float value = 0.0f;
  if (MoveToImage(a, field, item, cell, fraction))
  {
    const FieldCorners          corners = FindCornersOf(&a->fieldGrid, cell, 1);
    const i64                   x = corners.step[0];
    const i64                   y = corners.step[1];
    GPUREG_GLOBAL const float * p = image + corners.first;
    GPUREG_GLOBAL const float * q = p + corners.step[2];
    const float                 p0 = MixNumbers(p[0], p[x], fraction[0]);
    const float                 p1 = MixNumbers(p[y], p[y + x], fraction[0]);
    const float                 q0 = MixNumbers(q[0], q[x], fraction[0]);
    const float                 q1 = MixNumbers(q[y], q[y + x], fraction[0]);
    value = MixNumbers(MixNumbers(p0, p1, fraction[1]), MixNumbers(q0, q1, fraction[1]), fraction[2]);
  }
  values[item] = value;
}

GPUREG_ITEM_KERNEL(ResampleMiddleImage, 1 << 12, "resampling an image");

/** Writes the weight, 1 or 0, of the mask's voxel that is nearest to where a voxel comes to. */
GPUREG_FUNCTION void
ResampleMiddleMask(const FieldResampling *     a,
                   GPUREG_GLOBAL const float * field,
                   GPUREG_GLOBAL const float * weights,
                   GPUREG_GLOBAL float *       resampled,
                   i64                         item)
{
  int   cell[3];
  float fraction[3];
  float weight = 0.0f;
  if (MoveToImage(a, field, item, cell, fraction))
  {
    for (int d = 0; d < 3; ++d)
    {
      cell[d] += fraction[d] >= 0.5f;
    }
    weight = weights[FindCornersOf(&a->fieldGrid, cell, 1).first];
  }
  resampled[item] = weight;
}

GPUREG_ITEM_KERNEL(ResampleMiddleMask, 1 << 12, "resampling a mask");

/** Writes a value where the mask has a weight of a half at least, and otherwise what is not finite. */
GPUREG_FUNCTION void
KeepInsideMask(GPUREG_GLOBAL const float * values,
               GPUREG_GLOBAL const float * weights,
               GPUREG_GLOBAL float *       kept,
               i64                         item)
{
  const float isInside = weights[item] >= 0.5f ? 1.0f : 0.0f;
  kept[item] = values[item] / isInside;
}

GPUREG_ITEM_KERNEL(KeepInsideMask, 1 << 14, "applying a mask");

GPUREG_NAMESPACE_END

#endif
