// SPDX-License-Identifier: Apache-2.0
// The displacement of a voxel by a transform: the difference between the point to which the voxel is mapped and its own.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Displacement_h
#define gpureg_kernels_Displacement_h

GPUREG_NAMESPACE_BEGIN

/** Arguments of ComputeDisplacement. 64-bit members come first. */
typedef struct DisplacementArguments
{
  double matrix[9]; /* of the map from the grid's indices to points, by rows */
  double offset[3];
  double low[3];    /* lower corner of a box, mm */
  double extent[3]; /* lengths of the box, mm */
  i64    firstVoxel;
  int    size[2]; /* of the grid along x and y */
  int    components;
} DisplacementArguments;

/** Computes the displacement of one voxel of a chunk. places: [voxel][component], in fractions of the box; they are replaced by mm. */
GPUREG_FUNCTION void
ComputeDisplacement(const DisplacementArguments * a, GPUREG_GLOBAL double * places, i64 voxel)
{
  const i64 whole = a->firstVoxel + voxel;
  const i64 row = whole / a->size[0];
  const int index[3] = { (int)(whole - row * a->size[0]), (int)(row % a->size[1]), (int)(row / a->size[1]) };
  for (int r = 0; r < a->components; ++r)
  {
    double mm = places[voxel * a->components + r] * a->extent[r] + a->low[r];
    for (int c = 0; c < a->components; ++c)
    {
      mm -= a->matrix[3 * r + c] * index[c];
    }
    places[voxel * a->components + r] = mm - a->offset[r];
  }
}

GPUREG_ITEM_KERNEL(ComputeDisplacement, 16384, "computing displacements");

GPUREG_NAMESPACE_END

#endif
