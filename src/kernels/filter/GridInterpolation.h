// SPDX-License-Identifier: Apache-2.0
// Linear interpolation at the points of a grid whose axes are parallel to those of the volume: it samples the levels of a pyramid
// (itk::LinearInterpolateImageFunction), in ITK's order of operations, so that integers are truncated to the same values.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_GridInterpolation_h
#define gpureg_kernels_GridInterpolation_h

GPUREG_NAMESPACE_BEGIN

/** A place along an axis: a sample, and the distance behind it. If the index of the sample is negative, the place is outside and the
 *  output is 0. */
typedef struct GridPlace
{
  double fraction; /* 0 to 1; where it is 0, the next sample is not read */
  int    cell;
  int    unused;
} GridPlace;

/** Describes the interpolation of an array [z][y][x][components] at a grid of places. The places along x come first, then those along y
 *  and z. */
typedef struct GridInterpolationArguments
{
  int inputSize[3];
  int outputSize[3];
  int components;
  int truncates; /* the output is truncated to an integer */
} GridInterpolationArguments;

/** Returns the interpolated value at three places, one along each axis. sample: the input's sample before all three. */
GPUREG_REAL_FUNCTION double
InterpolateAtPlaces(
  const GridInterpolationArguments * a, GPUREG_GLOBAL const real * sample, double fx, double fy, double fz)
{
  const i64 stepX = fx > 0.0 ? a->components : 0;
  const i64 stepY = fy > 0.0 ? (i64)a->inputSize[0] * a->components : 0;
  const i64 stepZ = fz > 0.0 ? (i64)a->inputSize[0] * a->inputSize[1] * a->components : 0;
  double    planes[2];
  for (int c = 0; c < 2; ++c)
  {
    GPUREG_GLOBAL const real * p = sample + c * stepZ;
    const double               row = MixSamples((double)p[0], (double)p[stepX], fx);
    const double               next = MixSamples((double)p[stepY], (double)p[stepY + stepX], fx);
    planes[c] = MixSamples(row, next, fy);
  }
  const double value = MixSamples(planes[0], planes[1], fz);
  return a->truncates ? (double)(i64)value : value;
}

/** Writes one element of the output. */
GPUREG_REAL_FUNCTION void
InterpolateElement(const GridInterpolationArguments * a,
                   GPUREG_GLOBAL const real *         input,
                   GPUREG_GLOBAL const GridPlace *    places,
                   GPUREG_GLOBAL real *               output,
                   i64                                element)
{
  const i64       voxel = element / a->components;
  const int       component = (int)(element - voxel * a->components);
  const i64       row = voxel / a->outputSize[0];
  const int       z = (int)(row / a->outputSize[1]);
  const GridPlace px = places[voxel - row * a->outputSize[0]];
  const GridPlace py = places[a->outputSize[0] + (int)(row - (i64)z * a->outputSize[1])];
  const GridPlace pz = places[(i64)a->outputSize[0] + a->outputSize[1] + z];
  if (px.cell < 0 || py.cell < 0 || pz.cell < 0)
  {
    output[element] = 0.0f;
    return;
  }
  const i64 sample = ((i64)pz.cell * a->inputSize[1] + py.cell) * a->inputSize[0] + px.cell;
  output[element] =
    (real)InterpolateAtPlaces(a, input + sample * a->components + component, px.fraction, py.fraction, pz.fraction);
}

GPUREG_REAL_ITEM_KERNEL(InterpolateElement, 65536, "interpolating");

GPUREG_NAMESPACE_END

#endif
