// SPDX-License-Identifier: Apache-2.0
// The shape of a volume, and the offsets of its voxels in memory.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_Geometry_h
#define gpureg_kernels_Geometry_h

GPUREG_NAMESPACE_BEGIN

/** Holds a volume's size and, computed once, the numbers that interpolation derives from it. All members have 32 bits, so that every
 *  compiler lays the struct out identically. */
typedef struct VolumeShape
{
  int size[3];
  int stride[3];   /* voxels to the next neighbour; 0 along an axis of one voxel */
  int lastCell[3]; /* the last voxel that has a next one; 0 along an axis of one voxel */
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
    shape.lastCell[d] = size > 1 ? size - 2 : 0;
  }
  return shape;
}

/** Returns the offset of voxel (x, y, z). It has 64 bits, since a volume may hold more than 2^31 voxels; its number of rows and the
 *  number of voxels in a slice fit into 32 bits. */
GPUREG_FUNCTION i64
VoxelOffset(const VolumeShape * shape, int x, int y, int z)
{
  return (i64)(z * shape->size[1] + y) * shape->size[0] + x;
}

GPUREG_NAMESPACE_END

#endif
