// SPDX-License-Identifier: Apache-2.0
// Smooths a stationary velocity v where its exponential folds, and nowhere else: MarkFolds() marks the voxels at which exp(v) folds,
// SpreadMarks() carries marks along v, in so many steps that together they last as long as the exponential, and TakeWhereMarked() takes the
// smoothed v around marked voxels: those through which the points around a fold came.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldUnfolding_h
#define gpureg_kernels_FieldUnfolding_h

GPUREG_NAMESPACE_BEGIN

/** How far around a marked voxel the velocity is smoothed, along each axis. A determinant depends on the next voxels on either side. */
#define GPUREG_UNFOLDING_RADIUS 2

/** Writes 1 to marks at a voxel where a deformation's determinant is 0 or less, otherwise 0. Moves 16 bytes a voxel. */
GPUREG_FUNCTION void
MarkFolds(const FieldGrid * grid, GPUREG_GLOBAL const float * field, GPUREG_GLOBAL float * marks, i64 item)
{
  marks[item] = ComputeVolumeChange(grid, field, item) + 1.0f > 0.0f ? 0.0f : 1.0f;
}

GPUREG_ITEM_KERNEL(MarkFolds, 1 << 12, "unfolding a deformation");

/** Marks a voxel that was marked, or to which a share of the velocity leads from a marked one, up to rounding. marks has the marks before
 *  from element before on, and gets the new ones from element behind on. Moves 20 bytes a voxel. */
GPUREG_FUNCTION void
SpreadMarks(const FieldGrid *           grid,
            float                       share,
            i64                         before,
            i64                         behind,
            GPUREG_GLOBAL const float * velocity,
            GPUREG_GLOBAL float *       marks,
            i64                         item)
{
  int   index[3], cell[3];
  float vector[3], fraction[3];
  i64   stride = 1;
  i64   from = 0;
  ComputeVoxelIndex(grid, item, index);
  for (int r = 0; r < 3; ++r)
  {
    vector[r] = -share * velocity[3 * item + r];
  }
  MoveFromVoxel(grid, index, vector, cell, fraction);
  MoveToEdge(grid, cell, fraction);
  for (int d = 0; d < 3; ++d)
  {
    from += stride * (cell[d] + (fraction[d] >= 0.5f ? 1 : 0));
    stride *= grid->size[d];
  }
  marks[behind + item] = LargerOf(marks[before + item], marks[before + from]);
}

GPUREG_ITEM_KERNEL(SpreadMarks, 1 << 12, "unfolding a deformation");

/** Copies the smoothed vector of a voxel that is marked, or near a marked one, into the field. */
GPUREG_FUNCTION void
TakeWhereMarked(const FieldGrid *           grid,
                GPUREG_GLOBAL const float * marks,
                GPUREG_GLOBAL const float * smoothed,
                GPUREG_GLOBAL float *       field,
                i64                         item)
{
  int   index[3], lower[3], upper[3];
  float mark = 0.0f;
  ComputeVoxelIndex(grid, item, index);
  for (int d = 0; d < 3; ++d)
  {
    const int last = grid->size[d] - 1;
    lower[d] = index[d] > GPUREG_UNFOLDING_RADIUS ? index[d] - GPUREG_UNFOLDING_RADIUS : 0;
    upper[d] = index[d] < last - GPUREG_UNFOLDING_RADIUS ? index[d] + GPUREG_UNFOLDING_RADIUS : last;
  }
  for (int z = lower[2]; z <= upper[2]; ++z)
  {
    for (int y = lower[1]; y <= upper[1]; ++y)
    {
      const i64 row = ((i64)z * grid->size[1] + y) * grid->size[0];
      for (int x = lower[0]; x <= upper[0]; ++x)
      {
        mark = LargerOf(mark, marks[row + x]);
      }
    }
  }
  if (mark > 0.0f)
  {
    for (int c = 0; c < 3; ++c)
    {
      field[3 * item + c] = smoothed[3 * item + c];
    }
  }
}

GPUREG_ITEM_KERNEL(TakeWhereMarked, 1 << 12, "unfolding a deformation");

GPUREG_NAMESPACE_END

#endif
