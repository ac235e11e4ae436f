// SPDX-License-Identifier: Apache-2.0
// Blocks of voxels, for sums over neighbours along y or z. An item computes the sums of one block. It adds each row that it reads to all
// sums of the block that contain the row, so a block of n rows reads n + 2·radius rows instead of n·(2·radius + 1). Each sum adds its terms
// in the order of their places, so its bits do not depend on how the grid is cut into blocks.
// - On a device a block is one voxel wide, so that neighbouring lanes read side by side, and its sums stay in registers.
// - On the host it is as wide as a compiler makes vectors of, and its sums stay in the nearest cache.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_FieldBlocks_h
#define gpureg_kernels_FieldBlocks_h

GPUREG_NAMESPACE_BEGIN

/** Voxels of a block along x (width), and along y or z (length). A block of boxes has five or six sums a voxel; a lane does not have the
 *  registers for the sums of eight voxels. */
enum
{
  HostBlockWidth = 192,
  HostBlockLength = 16,
  DeviceBlockWidth = 1,
  DeviceBlockLength = 8,
  DeviceBoxesLength = 4,
#ifdef GPUREG_HAS_LANES
  BlockWidth = DeviceBlockWidth,
  BlockLength = DeviceBlockLength,
  BoxesLength = DeviceBoxesLength
#else
  BlockWidth = HostBlockWidth,
  BlockLength = HostBlockLength,
  BoxesLength = HostBlockLength
#endif
};

/** GPUREG_FOR_ELEMENTS() repeats what follows for elements i of a block's row: those of its voxels begin to before end, so many of each
 *  voxel. A device's block has no voxel but 0. Written so, and where loops in front of which GPUREG_UNROLL_ALL stands are no loops, a
 *  compiler knows all indices of a block's arrays, and keeps them in registers. */
#ifdef GPUREG_HAS_LANES
#  define GPUREG_FOR_ELEMENTS(i, perVoxel, begin, end) for (int i = 0; i < (perVoxel) && (begin) < (end); ++i)
#  define GPUREG_UNROLL_ALL _Pragma("unroll")
#  define GPUREG_UNROLL_2 _Pragma("unroll 2")
#  define GPUREG_UNROLL_4 _Pragma("unroll 4")
#else
#  define GPUREG_FOR_ELEMENTS(i, perVoxel, begin, end) for (int i = (perVoxel) * (begin); i < (perVoxel) * (end); ++i)
#  define GPUREG_UNROLL_ALL
#  define GPUREG_UNROLL_2
#  define GPUREG_UNROLL_4
#endif

/** A block of a grid, which the grid's edge may cut off. */
typedef struct FieldBlock
{
  int first[3]; /* its lowest voxel */
  int width;
  int length;
} FieldBlock;

/** Returns the number of blocks of a length that cover the given number of voxels. */
GPUREG_FUNCTION int
CountBlocksAlong(int voxels, int ofBlock)
{
  return (voxels + ofBlock - 1) / ofBlock;
}

/** Returns the number of blocks of a grid. axis: 1 or 2, the axis along which blocks are long; width, length: a block's, on the device. */
GPUREG_FUNCTION i64
CountFieldBlocks(const FieldGrid * grid, int axis, int width, int length)
{
  const int alongY = axis == 1 ? CountBlocksAlong(grid->size[1], length) : grid->size[1];
  const int alongZ = axis == 2 ? CountBlocksAlong(grid->size[2], length) : grid->size[2];
  return (i64)CountBlocksAlong(grid->size[0], width) * alongY * alongZ;
}

/** Finds the block with number item. axis: 1 or 2, the axis along which blocks are long; length: a block's. */
GPUREG_FUNCTION void
LocateFieldBlock(const FieldGrid * grid, int axis, int length, i64 item, FieldBlock * block)
{
  const int alongY = axis == 1 ? CountBlocksAlong(grid->size[1], length) : grid->size[1];
  int       left;
  SplitNumber(item, CountBlocksAlong(grid->size[0], BlockWidth), alongY, block->first);
  block->first[0] *= BlockWidth;
  block->first[1] *= axis == 1 ? length : 1;
  block->first[2] *= axis == 2 ? length : 1;
#ifdef GPUREG_HAS_LANES
  block->width = 1;
#else
  left = grid->size[0] - block->first[0];
  block->width = left < BlockWidth ? left : BlockWidth;
#endif
  left = axis == 1 ? grid->size[1] - block->first[1] : grid->size[2] - block->first[2];
  block->length = left < length ? left : length;
}

/** Returns the number of the first voxel of a block's row at y and z. */
GPUREG_FUNCTION i64
ComputeRowOfBlock(const FieldGrid * grid, const FieldBlock * block, int y, int z)
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
  return (u32)(place - other + radius) <= (u32)(2 * radius);
}

/** Finds the shifts along x, from first to last and at most radius far, that leave at least one voxel of a block inside of the grid. */
GPUREG_FUNCTION void
ComputeMoves(const FieldGrid * grid, const FieldBlock * block, int radius, int * first, int * last)
{
  const int before = block->first[0] + block->width - 1;
  const int behind = grid->size[0] - 1 - block->first[0];
  *first = before < radius ? -before : -radius;
  *last = behind < radius ? behind : radius;
}

/** Finds the voxels of a block's row, from begin to before end, that are inside of the grid when shifted by `by` along x. by: a shift that
 *  ComputeMoves() allows, which leaves a lane's voxel inside. */
GPUREG_FUNCTION void
ComputeMovedRow(const FieldGrid * grid, const FieldBlock * block, int by, int * begin, int * end)
{
#ifdef GPUREG_HAS_LANES
  *begin = 0;
  *end = 1;
#else
  const int place = block->first[0] + by;
  const int inside = grid->size[0] - place;
  *begin = place < 0 ? (-place < block->width ? -place : block->width) : 0;
  *end = inside < block->width ? (inside > 0 ? inside : 0) : block->width;
#endif
}

GPUREG_NAMESPACE_END

#endif
