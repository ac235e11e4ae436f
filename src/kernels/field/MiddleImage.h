// SPDX-License-Identifier: Apache-2.0
// Resamples an image and its mask at the places to which a field displaces the voxels of its grid, as itk::SyNImageRegistrationMethod
// resamples both images in the middle: as itk::ResampleImageFilter with linear and nearest neighbour interpolation, 0 outside.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_MiddleImage_h
#define gpureg_kernels_MiddleImage_h

GPUREG_NAMESPACE_BEGIN

/** A place in an image, as seen from its nearest voxel. */
typedef struct NearestVoxel
{
  int   index[3];
  int   side[3]; /* 1 or -1: where the place's other neighbour is */
  float weight
    [3]; /* the weight of that neighbour, at most a half: a place just below a voxel keeps as many digits as one just above */
} NearestVoxel;

/** Computes the place in an image to which a voxel of a->grid is displaced. a->fieldGrid is the image's grid: a->toField maps the voxel's
 *  index to it, and a->fieldGrid.toIndex maps the displacement. Returns true if the place is in the image's buffer. */
GPUREG_FUNCTION int
MoveToImage(const FieldResampling * a, GPUREG_GLOBAL const float * field, i64 item, NearestVoxel * place)
{
  int         index[3];
  int         isInside = 1;
  const float vector[3] = { field[3 * item], field[3 * item + 1], field[3 * item + 2] };
  ComputeVoxelIndex(&a->grid, item, index);
  for (int d = 0; d < 3; ++d)
  {
    const i64 position = ApplyFixedRow(&a->toField, d, index[0], index[1], index[2]);
    float     fraction;
    ComputeFraction(position, &fraction);
    const float moved = fraction + ToVoxels(&a->fieldGrid, d, vector);
    const float whole = FloorOf(moved);
    const int   isNearNext = moved - whole >= 0.5f;
    /* Both conditions are false for NaN. */
    const int isNear = whole > -GPUREG_FARTHEST_DISPLACEMENT && whole < GPUREG_FARTHEST_DISPLACEMENT;
    const i64 nearest = (i64)IntegerPart(position) + (isNear ? (int)whole : 0) + isNearNext;
    isInside &= isNear && nearest >= 0 && nearest < a->fieldGrid.size[d];
    place->index[d] = (int)nearest;
    place->side[d] = isNearNext ? -1 : 1;
    place->weight[d] = isNearNext ? whole + 1.0f - moved : moved - whole;
  }
  return isInside;
}

/** Returns the number of a place's nearest voxel. */
GPUREG_FUNCTION i64
NumberOfNearest(const FieldResampling * a, const NearestVoxel * place)
{
  const int * size = a->fieldGrid.size;
  return ((i64)place->index[2] * size[1] + place->index[1]) * size[0] + place->index[0];
}

/** Interpolates linearly between number n of an image and the number a step further, and subtracts the value outside of the image. */
GPUREG_FUNCTION float
MixAlongX(GPUREG_GLOBAL const void * image, int form, float outside, i64 n, i64 step, float weight)
{
  return MixNumbers(ReadShortNumber(image, form, n) - outside,
                    ReadShortNumber(image, form, n + step) - outside,
                    weight);
}

/** Writes the image's value, interpolated linearly at the place to which a voxel is displaced, minus the value outside of the image. The
 *  image's numbers have a NumberForm that ReadShortNumber() reads. Moves 16 bytes and one number of the image per voxel. */
GPUREG_FUNCTION void
ResampleMiddleImage(const FieldResampling *     a,
                    GPUREG_GLOBAL const float * field,
                    GPUREG_GLOBAL const void *  image,
                    int                         form,
                    float                       outside,
                    GPUREG_GLOBAL float *       values,
                    i64                         item)
{
  NearestVoxel place;
  float        value = 0.0f;
  if (MoveToImage(a, field, item, &place))
  {
    i64 step[3];
    i64 stride = 1;
    for (int d = 0; d < 3; ++d)
    {
      /* The edge continues. */
      const int other = place.index[d] + place.side[d];
      step[d] = other >= 0 && other < a->fieldGrid.size[d] ? stride * place.side[d] : 0;
      stride *= a->fieldGrid.size[d];
    }
    const i64   nearest = NumberOfNearest(a, &place);
    const float p0 = MixAlongX(image, form, outside, nearest, step[0], place.weight[0]);
    const float p1 = MixAlongX(image, form, outside, nearest + step[1], step[0], place.weight[0]);
    const float q0 = MixAlongX(image, form, outside, nearest + step[2], step[0], place.weight[0]);
    const float q1 = MixAlongX(image, form, outside, nearest + step[2] + step[1], step[0], place.weight[0]);
    value = MixNumbers(MixNumbers(p0, p1, place.weight[1]), MixNumbers(q0, q1, place.weight[1]), place.weight[2]);
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
  NearestVoxel place;
  resampled[item] = MoveToImage(a, field, item, &place) ? weights[NumberOfNearest(a, &place)] : 0.0f;
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
