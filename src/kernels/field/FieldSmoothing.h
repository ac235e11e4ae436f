// SPDX-License-Identifier: Apache-2.0
// A field smoothed by a symmetric kernel along one axis after the other, as
// itk::SyNImageRegistrationMethod::GaussianSmoothDisplacementField() does it. In floats: LineConvolution.h's double precision, which
// integer images need, would take twice the time.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldSmoothing_h
#define gpureg_kernels_FieldSmoothing_h

GPUREG_NAMESPACE_BEGIN

/** Smoothing along one axis. 32-bit members only. */
typedef struct FieldSmoothing
{
  int   axis;
  int   radius; /* neighbours on either side */
  int   isLast; /* of the axes: then border voxels are set to 0, and what is kept of the unsmoothed field is added */
  float kept;   /* part of the unsmoothed field in the result, 0 to 1: ITK keeps 2·variance where that is below 1 */
} FieldSmoothing;

/** Returns the element of a field smoothed along an axis, at that place along it. Before and behind the grid its edge continues. */
GPUREG_REAL_FUNCTION real
SmoothElement(
  int radius, GPUREG_GLOBAL const float * weights, int place, int size, i64 stride, GPUREG_GLOBAL const real * element)
{
  real sum = (real)weights[0] * element[0];
  if (place >= radius && place + radius < size)
  {
    for (int k = 1; k <= radius; ++k)
    {
      sum = MultiplyAdd((real)weights[k], element[-k * stride] + element[k * stride], sum);
    }
    return sum;
  }
  for (int k = 1; k <= radius; ++k)
  {
    const int before = k < place ? k : place;
    const int behind = k < size - 1 - place ? k : size - 1 - place;
    sum = MultiplyAdd((real)weights[k], element[-before * stride] + element[behind * stride], sum);
  }
  return sum;
}

/** Smooths an element of a field along an axis. weights: of the centre and of neighbours 1 … radius, on either side; unsmoothed: the field
 *  before all axes, which is read where a->kept is not 0. Moves 24 bytes a voxel and axis. */
GPUREG_REAL_FUNCTION void
SmoothFieldAlong(const FieldGrid *           grid,
                 const FieldSmoothing *      a,
                 GPUREG_GLOBAL const float * weights,
                 GPUREG_GLOBAL const real *  field,
                 GPUREG_GLOBAL const real *  unsmoothed,
                 GPUREG_GLOBAL real *        smoothed,
                 i64                         item)
{
  const i64 row = 3 * (i64)grid->size[0];
  const i64 stride = a->axis == 0 ? 3 : (a->axis == 1 ? row : row * grid->size[1]);
  int       index[3];
  FindVoxelIndex(grid, item / 3, index);
  /* An index that the compiler does not know would put arrays into memory. */
  const int place = a->axis == 0 ? index[0] : (a->axis == 1 ? index[1] : index[2]);
  const int size = a->axis == 0 ? grid->size[0] : (a->axis == 1 ? grid->size[1] : grid->size[2]);
  if (a->isLast && IsOnFieldBorder(grid, index))
  {
    smoothed[item] = 0.0f;
    return;
  }
  real value = SmoothElement(a->radius, weights, place, size, stride, field + item);
  if (a->isLast && a->kept > 0.0f)
  {
    value = MixNumbers(value, unsmoothed[item], (real)a->kept);
  }
  smoothed[item] = value;
}

GPUREG_REAL_ITEM_KERNEL(SmoothFieldAlong, 1 << 14, "smoothing a deformation");

GPUREG_NAMESPACE_END

#endif
