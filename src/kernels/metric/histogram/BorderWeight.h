// SPDX-License-Identifier: Apache-2.0
// The weight of a sample near the edge of the overlap (FLIRT, Jenkinson 2002; Li 2015, section 5.3). Within a given distance of the edge of
// the moving image's buffer along an axis, it falls linearly to 0 at the edge itself, beyond which samples are not valid; the weight is the
// product over the axes. So the value does not jump when samples leave the image.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_BorderWeight_h
#define gpureg_kernels_BorderWeight_h

GPUREG_NAMESPACE_BEGIN

/** Describes the border within which weights fall. 32-bit members only. */
typedef struct BorderArguments
{
  float perVoxel[3]; /* 1/(border's width in voxels) along each axis of the moving image; 0 for none */
  float
    perMillimetre[9]; /* row a: ∂(weight along axis a)/∂(physical axis) at the lower edge; negated at the upper one */
} BorderArguments;

/** Returns the weight along an axis. slope: 1 behind the lower edge, where the weight rises, -1 before the upper edge, 0 where the
 *  weight is 1. */
GPUREG_FUNCTION float
WeighAlongAxis(const BorderArguments * border, const VolumeShape * shape, int axis, i64 position, float * slope)
{
  const i64   behindLower = position + GPUREG_FIXED_HALF;
  const i64   beforeUpper = ((i64)shape->size[axis] << 32) - behindLower;
  const int   isLower = behindLower <= beforeUpper;
  const float weight = (float)(isLower ? behindLower : beforeUpper) * GPUREG_FIXED_UNIT * border->perVoxel[axis];
  if (border->perVoxel[axis] == 0.0f || weight >= 1.0f)
  {
    *slope = 0.0f;
    return 1.0f;
  }
  *slope = isLower ? 1.0f : -1.0f;
  return weight;
}

/** Returns the weight of a valid sample at a position. */
GPUREG_FUNCTION float
ComputeBorderWeight(const BorderArguments * border, const VolumeShape * shape, const i64 * position)
{
  float slope;
  float weight = 1.0f;
  for (int axis = 0; axis < 3; ++axis)
  {
    weight *= WeighAlongAxis(border, shape, axis, position[axis], &slope);
  }
  return weight;
}

/** Returns the weight of a valid sample at a position, and computes its gradient along physical axes, per mm. */
GPUREG_FUNCTION float
ComputeBorderWeightAndGradient(const BorderArguments * border,
                               const VolumeShape *     shape,
                               const i64 *             position,
                               float *                 gradient)
{
  float weights[3], slopes[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    weights[axis] = WeighAlongAxis(border, shape, axis, position[axis], slopes + axis);
  }
  const float ofAxis[3] = { slopes[0] * weights[1] * weights[2],
                            slopes[1] * weights[2] * weights[0],
                            slopes[2] * weights[0] * weights[1] };
  for (int d = 0; d < 3; ++d)
  {
    gradient[d] = ofAxis[0] * border->perMillimetre[d] + ofAxis[1] * border->perMillimetre[3 + d] +
                  ofAxis[2] * border->perMillimetre[6 + d];
  }
  return weights[0] * weights[1] * weights[2];
}

GPUREG_NAMESPACE_END

#endif
