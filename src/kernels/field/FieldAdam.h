// SPDX-License-Identifier: Apache-2.0
// Updates of a field by Adam (Kingma & Ba 2015), each component of each vector by itself.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldAdam_h
#define gpureg_kernels_FieldAdam_h

GPUREG_NAMESPACE_BEGIN

/** Replaces a vector of a smoothed update by Adam's step, in mm, and writes the step's length in voxels. Adam's gradient is minus the
 *  update divided by the length of the longest vector in voxels, so Adam's epsilon is relative to that length.
 *  longest: the length of the update's longest vector, voxels; firstMeans, secondMeans: the means of the gradient and of its square,
 *  float[3] a voxel, initially 0. Moves 76 bytes a voxel, of floats. */
GPUREG_REAL_FUNCTION void
MoveFieldByAdam(const FieldGrid *           grid,
                const AdamStep *            step,
                GPUREG_GLOBAL const float * longest,
                GPUREG_GLOBAL float *       firstMeans,
                GPUREG_GLOBAL float *       secondMeans,
                GPUREG_GLOBAL real *        update,
                GPUREG_GLOBAL float *       lengths,
                i64                         item)
{
  const float unit = longest[0] > 0.0f ? 1.0f / longest[0] : 0.0f;
  real        moved[3];
  for (int d = 0; d < 3; ++d)
  {
    const i64   element = 3 * item + d;
    const float gradient = -(float)update[element] * grid->perSpacing[d] * unit;
    float       first = firstMeans[element];
    float       second = secondMeans[element];
    moved[d] = (real)(ComputeAdamStep(step, gradient, &first, &second) / grid->perSpacing[d]);
    firstMeans[element] = first;
    secondMeans[element] = second;
    update[element] = moved[d];
  }
  lengths[item] = ComputeLengthInVoxels(grid, moved);
}

GPUREG_REAL_ITEM_KERNEL(MoveFieldByAdam, 1 << 12, "computing a step");

GPUREG_NAMESPACE_END

#endif
