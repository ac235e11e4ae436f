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

GPUREG_FUNCTION float
AffineRow(const AffineMap * map, int row, float x, float y, float z)
{
  return MultiplyAdd(
    map->m[3 * row], x, MultiplyAdd(map->m[3 * row + 1], y, MultiplyAdd(map->m[3 * row + 2], z, map->t[row])));
}

GPUREG_FUNCTION void
ApplyAffine(const AffineMap * map, float x, float y, float z, float * out)
{
  out[0] = AffineRow(map, 0, x, y, z);
  out[1] = AffineRow(map, 1, x, y, z);
  out[2] = AffineRow(map, 2, x, y, z);
}

/** ITK's IsInsideBuffer for a continuous index relative to the buffer's first voxel: the half-open
 *  box [-0.5, size - 0.5). A NaN is outside. */
GPUREG_FUNCTION int
IsInsideBuffer(const int * size, const float * index)
{
  return index[0] >= -0.5f && index[0] < (float)size[0] - 0.5f && index[1] >= -0.5f &&
         index[1] < (float)size[1] - 0.5f && index[2] >= -0.5f && index[2] < (float)size[2] - 0.5f;
}

/** Offset of a voxel; 64 bits, since volumes may hold more than 2^31 of them. */
GPUREG_FUNCTION i64
VoxelOffset(const int * size, int x, int y, int z)
{
  return ((i64)z * size[1] + y) * size[0] + x;
}

GPUREG_NAMESPACE_END

#endif
