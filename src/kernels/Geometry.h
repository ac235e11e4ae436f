// SPDX-License-Identifier: Apache-2.0
// Affine maps between index spaces, and the tests of where an index lies.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Geometry_h
#define gpureg_kernels_Geometry_h

GPUREG_NAMESPACE_BEGIN

/** out = M·in + t, by rows: m[3 r + c], t[r]. Folded in double on the host, so that large
 *  origins and oblique directions cost no precision here. */
typedef struct AffineMap
{
  float m[9];
  float t[3];
} AffineMap;

/** One row without z, which comes last: a lane that walks along z keeps the rest. */
GPUREG_FUNCTION float
AffineRowBeforeZ(const AffineMap * map, int row, float x, float y)
{
  return MultiplyAdd(map->m[3 * row + 1], y, MultiplyAdd(map->m[3 * row], x, map->t[row]));
}

GPUREG_FUNCTION float
AffineRow(const AffineMap * map, int row, float x, float y, float z)
{
  return MultiplyAdd(map->m[3 * row + 2], z, AffineRowBeforeZ(map, row, x, y));
}

GPUREG_FUNCTION void
ApplyAffine(const AffineMap * map, float x, float y, float z, float * out)
{
  out[0] = AffineRow(map, 0, x, y, z);
  out[1] = AffineRow(map, 1, x, y, z);
  out[2] = AffineRow(map, 2, x, y, z);
}

/** A volume's size, and what interpolation keeps asking of it, worked out once.
 *  32-bit members only, so that every compiler lays it out alike. */
typedef struct VolumeShape
{
  int   size[3];
  int   stride[3];   /* voxels to the next neighbour; 0 along an axis of one voxel */
  float end[3];      /* size - 0.5: where the buffer ends */
  float lastCell[3]; /* the last voxel that has a next one; 0 along an axis of one voxel */
} VolumeShape;

GPUREG_FUNCTION VolumeShape
MakeVolumeShape(int sizeX, int sizeY, int sizeZ)
{
  VolumeShape shape;
  shape.size[0] = sizeX;
  shape.size[1] = sizeY;
  shape.size[2] = sizeZ;
  for (int d = 0; d < 3; ++d)
  {
    const int size = shape.size[d];
    const int stride = d == 0 ? 1 : (d == 1 ? sizeX : sizeX * sizeY);
    shape.stride[d] = size > 1 ? stride : 0;
    shape.end[d] = (float)size - 0.5f;
    shape.lastCell[d] = size > 1 ? (float)(size - 2) : 0.0f;
  }
  return shape;
}

/** ITK's IsInsideBuffer for a continuous index relative to the buffer's first voxel: the half-open
 *  box [-0.5, size - 0.5). A NaN is outside. */
GPUREG_FUNCTION int
IsInsideBuffer(const VolumeShape * shape, const float * index)
{
  return (index[0] >= -0.5f) & (index[0] < shape->end[0]) & (index[1] >= -0.5f) & (index[1] < shape->end[1]) &
         (index[2] >= -0.5f) & (index[2] < shape->end[2]);
}

/** Offset of a voxel; 64 bits, since a volume may hold more than 2^31 of them. Its rows, and the voxels
 *  of a slice, are fewer. */
GPUREG_FUNCTION i64
VoxelOffset(const VolumeShape * shape, int x, int y, int z)
{
  return (i64)(z * shape->size[1] + y) * shape->size[0] + x;
}

GPUREG_NAMESPACE_END

#endif
