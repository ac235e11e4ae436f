// SPDX-License-Identifier: Apache-2.0
// Blocks of voxels: what an item computes of a sum over neighbours along y or z. It adds each row that it reads to all of its own sums that
// the row belongs to, so that a block of n rows reads n + 2·radius rows, and not n·(2·radius + 1). Each sum has its terms in the order of
// their places, whatever the block: the bits do not depend on it.
// - On a device a block is one voxel wide, so that neighbouring lanes read side by side, and its sums stay in registers.
// - On the host it is as wide as a compiler makes vectors of, and its sums stay in the nearest cache.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldBlocks_h
#define gpureg_kernels_FieldBlocks_h

GPUREG_NAMESPACE_BEGIN

/** Voxels of a block along x (width), and along y or z (length). */
enum
{
  HostBlockWidth = 192,
  HostBlockLength = 16,
  DeviceBlockWidth = 1,
  DeviceBlockLength = 8,
#ifdef GPUREG_HAS_LANES
  BlockWidth = DeviceBlockWidth,
  BlockLength = DeviceBlockLength
#else
  BlockWidth = HostBlockWidth,
  BlockLength = HostBlockLength
#endif
};

/** GPUREG_FOR_ELEMENTS() repeats what follows for elements i of a block's row: those of its voxels begin to before end, so many of each
 *  voxel. A device's block has no voxel but 0. Written so, and where loops in front of which GPUREG_UNROLL_ALL stands are no loops, a compiler
 *  knows all indices of a block's arrays, and keeps them in registers. */
#ifdef GPUREG_HAS_LANES
#  define GPUREG_FOR_ELEMENTS(i, perVoxel, begin, end) for (int i = 0; i < (perVoxel) && (begin) < (end); ++i)
#  define GPUREG_UNROLL_ALL _Pragma("unroll")
#else
#  define GPUREG_FOR_ELEMENTS(i, perVoxel, begin, end) for (int i = (perVoxel) * (begin); i < (perVoxel) * (end); ++i)
#  define GPUREG_UNROLL_ALL
#endif

/** A block of a grid, which the grid's edge may cut off. */
typedef struct FieldBlock
{
  int first[3]; /* its lowest voxel */
  int width;
  int length;
} FieldBlock;

/** Returns how many blocks there are along so many voxels. */
GPUREG_FUNCTION int
CountBlocksAlong(int voxels, int ofBlock)
{
  return (voxels + ofBlock - 1) / ofBlock;
}

/** Returns the number of blocks of a grid that are long along an axis, 1 or 2. width, length: BlockWidth and BlockLength of the device. */
GPUREG_FUNCTION i64
CountFieldBlocks(const FieldGrid * grid, int axis, int width, int length)
{
  const int alongY = axis == 1 ? CountBlocksAlong(grid->size[1], length) : grid->size[1];
  const int alongZ = axis == 2 ? CountBlocksAlong(grid->size[2], length) : grid->size[2];
  return (i64)CountBlocksAlong(grid->size[0], width) * alongY * alongZ;
}

/** Finds block number item. */
GPUREG_FUNCTION void
FindFieldBlock(const FieldGrid * grid, int axis, i64 item, FieldBlock * block)
{
  const int alongY = axis == 1 ? CountBlocksAlong(grid->size[1], BlockLength) : grid->size[1];
  int       left;
  SplitNumber(item, CountBlocksAlong(grid->size[0], BlockWidth), alongY, block->first);
  block->first[0] *= BlockWidth;
  block->first[1] *= axis == 1 ? BlockLength : 1;
  block->first[2] *= axis == 2 ? BlockLength : 1;
  left = grid->size[0] - block->first[0];
  block->width = left < BlockWidth ? left : BlockWidth;
  left = axis == 1 ? grid->size[1] - block->first[1] : grid->size[2] - block->first[2];
  block->length = left < BlockLength ? left : BlockLength;
}

/** Returns the number of the first voxel of a block's row at y and z. */
GPUREG_FUNCTION i64
FindRowOfBlock(const FieldGrid * grid, const FieldBlock * block, int y, int z)
{
  return ((i64)z * grid->size[1] + y) * grid->size[0] + block->first[0];
}

/** Sets the elements of a block's sums, or of a row, to 0. */
GPUREG_REAL_FUNCTION void
ClearSums(int count, real * sums)
{
  GPUREG_UNROLL_ALL for (int i = 0; i < count; ++i)
  {
    sums[i] = 0.0f;
  }
}

/** Says whether two places along an axis are no further apart than a radius. */
GPUREG_FUNCTION int
IsWithin(int radius, int place, int other)
{
  return place - other <= radius && other - place <= radius;
}

/** Finds which voxels, begin to before end, of a block's row are inside of the grid when they are moved along x. */
GPUREG_FUNCTION void
FindMovedRow(const FieldGrid * grid, const FieldBlock * block, int by, int * begin, int * end)
{
  const int place = block->first[0] + by;
  const int inside = grid->size[0] - place;
  *begin = place < 0 ? (-place < block->width ? -place : block->width) : 0;
  *end = inside < block->width ? (inside > 0 ? inside : 0) : block->width;
}

GPUREG_NAMESPACE_END

#endif
