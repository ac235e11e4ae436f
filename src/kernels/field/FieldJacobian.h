// SPDX-License-Identifier: Apache-2.0
// Change of volumes by a deformation: the determinant of its Jacobian, det(I + ∂u/∂x), by central differences, as
// itk::DisplacementFieldJacobianDeterminantFilter. That filter takes the grid's axes for the physical ones, however the grid is turned: so
// does this where grid->toIndex is the diagonal matrix of 1/spacing; with the grid's own it is the deformation's.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldJacobian_h
#define gpureg_kernels_FieldJacobian_h

GPUREG_NAMESPACE_BEGIN

/** Returns det(I + ∂u/∂x) - 1 at a voxel. At the edge the neighbour that is not there is the voxel itself, and the difference is taken over
 *  two steps all the same: ITK's rule. */
GPUREG_REAL_FUNCTION real
ComputeVolumeChange(const FieldGrid * grid, GPUREG_GLOBAL const real * field, i64 item)
{
  int  index[3];
  real slopes[9], gradient[9];
  i64  stride = 3;
  ComputeVoxelIndex(grid, item, index);
  for (int k = 0; k < 3; ++k)
  {
    const i64                  before = index[k] > 0 ? stride : 0;
    const i64                  behind = index[k] < grid->size[k] - 1 ? stride : 0;
    GPUREG_GLOBAL const real * vector = field + 3 * item;
    for (int c = 0; c < 3; ++c)
    {
      slopes[3 * k + c] = 0.5f * (vector[behind + c] - vector[c - before]);
    }
    stride *= grid->size[k];
  }
  ComputeFieldGradient(grid, slopes, gradient);
  return ComputeDeterminantBeyondOne(gradient);
}

/** Returns the logarithm of a determinant 1 + change, or of leastDeterminant if that is larger. */
GPUREG_FUNCTION float
ComputeLogOfDeterminant(float change, float leastDeterminant)
{
  return LogOfOnePlus(change + 1.0f >= leastDeterminant ? change : leastDeterminant - 1.0f);
}

/** Numbers that describe a field's Jacobian: arrays of one float a voxel, behind each other. */
enum
{
  JacobianLogarithm = 0,
  JacobianLogarithmSquare = 1,
  JacobianFolded = 2,   /* 1 where the determinant is 0 or less */
  JacobianNegative = 3, /* minus the determinant */
  JacobianNumbers = 4
};

/** Writes the numbers of JacobianNumbers for one of so many voxels that begin at the first one. A determinant below leastDeterminant has
 *  the logarithm of that. */
GPUREG_FUNCTION void
DescribeJacobian(const FieldGrid *           grid,
                 float                       leastDeterminant,
                 i64                         first,
                 i64                         voxels,
                 GPUREG_GLOBAL const float * field,
                 GPUREG_GLOBAL float *       numbers,
                 i64                         item)
{
  const float change = ComputeVolumeChange(grid, field, first + item);
  const float logarithm = ComputeLogOfDeterminant(change, leastDeterminant);
  numbers[JacobianLogarithm * voxels + item] = logarithm;
  numbers[JacobianLogarithmSquare * voxels + item] = logarithm * logarithm;
  numbers[JacobianFolded * voxels + item] = change + 1.0f > 0.0f ? 0.0f : 1.0f;
  numbers[JacobianNegative * voxels + item] = -1.0f - change;
}

GPUREG_ITEM_KERNEL(DescribeJacobian, 1 << 12, "measuring a deformation");

GPUREG_NAMESPACE_END

#endif
