// SPDX-License-Identifier: Apache-2.0
// Sums over all neighborhoods on devices with many lanes and fast local memory: along z over single voxels, where a lane computes four sums
// of a column; along y and x in a tile in local memory, where the tile's centres are processed at once. NeighborhoodWalks.h has the method
// for neighborhoods too large for a tile.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_NeighborhoodTiles_h
#define gpureg_kernels_NeighborhoodTiles_h

GPUREG_NAMESPACE_BEGIN

enum
{
  WindowsAtOnce = 4,   /* adjacent sums that a lane computes at once */
  ZBlocksOfGroup = 4,  /* blocks of a group along z, which share the planes that its lanes read */
  LargestTileRows = 16 /* rows of centres; a multiple of WindowsAtOnce */
};

/** WindowsAtOnce running sums over adjacent windows of a line: sum w is over the elements w to w + length - 1. No subtraction is used, and
 *  the order of the additions is fixed. The elements common to all windows are added up once; then those before and behind them are
 *  added to the windows that contain them. Each sum costs (length + 5)/4 additions, and reads (length + 3)/4 elements. length is odd; a
 *  length of 1 is treated separately. */
typedef struct WindowSums
{
  double sum[WindowsAtOnce];
  double common;
  double behind;
} WindowSums;

GPUREG_FUNCTION void
StartWindowSums(WindowSums * windows)
{
  for (int w = 0; w < WindowsAtOnce; ++w)
  {
    windows->sum[w] = 0.0;
  }
  windows->common = 0.0;
  windows->behind = 0.0;
}

/** Adds element i < WindowsAtOnce - 1 to windows 0 to i, of which it belongs to the first part. */
GPUREG_FUNCTION void
AddToFirstWindows(int i, double element, WindowSums * windows)
{
  for (int w = 0; w <= i; ++w)
  {
    windows->sum[w] += element;
  }
}

/** Adds one of the elements WindowsAtOnce - 1 to length - 1, which all windows have in common. */
GPUREG_FUNCTION void
AddToAllWindows(double element, WindowSums * windows)
{
  windows->common += element;
}

/** Adds the sum of the common elements to each window's sum. */
GPUREG_FUNCTION void
FinishCommonOfWindows(WindowSums * windows)
{
  for (int w = 0; w < WindowsAtOnce; ++w)
  {
    windows->sum[w] += windows->common;
  }
}

/** Adds element length - 1 + w, 0 < w < WindowsAtOnce, the last one of window w. */
GPUREG_FUNCTION void
FinishWindow(int w, double element, WindowSums * windows)
{
  windows->behind += element;
  windows->sum[w] += windows->behind;
}

/** Returns the running sums of the elements at line, `step` apart. */
GPUREG_FUNCTION WindowSums
SumWindows(int length, GPUREG_LOCAL const double * line, int step)
{
  WindowSums windows;
  StartWindowSums(&windows);
  if (length == 1)
  {
    for (int w = 0; w < WindowsAtOnce; ++w)
    {
      windows.sum[w] = line[w * step];
    }
    return windows;
  }
  for (int i = 0; i < WindowsAtOnce - 1; ++i)
  {
    AddToFirstWindows(i, line[i * step], &windows);
  }
  line += (WindowsAtOnce - 1) * step;
  for (int i = WindowsAtOnce - 1; i < length; ++i)
  {
    AddToAllWindows(*line, &windows);
    line += step;
  }
  FinishCommonOfWindows(&windows);
  for (int w = 1; w < WindowsAtOnce; ++w)
  {
    FinishWindow(w, line[(w - 1) * step], &windows);
  }
  return windows;
}

/** Returns the number of voxels in the planes of centres, for which sums along z are computed. */
GPUREG_FUNCTION i64
CentreVoxels(const NeighborhoodArguments * a)
{
  return VoxelsOfPlane(a) * a->centrePlanes;
}

GPUREG_FUNCTION int
CountZBlocks(const NeighborhoodArguments * a)
{
  return (a->centrePlanes + WindowsAtOnce - 1) / WindowsAtOnce;
}

/** Returns what a voxel adds to the sums: nothing, if its plane is not stored. */
GPUREG_FUNCTION NeighborhoodSums
ComputeSumsInPlane(const NeighborhoodArguments * a,
                   const SampleMaps *            maps,
                   const SampleVolumes *         v,
                   const NeighborhoodVolumes *   n,
                   i64                           inPlane,
                   int                           plane)
{
  // Read in any case, so that the reads need not wait for a branch.
  const int last = a->keptPlanes - 1;
  const int kept = plane - a->firstStored;
  const int nearest = kept < 0 ? 0 : (kept < last ? kept : last);
  const i64 voxel = nearest * VoxelsOfPlane(a) + inPlane;
  const i64 fixed = v->fixedValuesInFixedPoint[FirstStoredVoxel(a) + voxel];
  const i64 moved = n->moved[voxel];
  return ComputeSumsOfVoxel(a, maps, fixed, kept == nearest ? moved : 2 * GPUREG_LEAST_MOVED_VALUE);
}

/** Computes the sums along z around WindowsAtOnce voxels of a column. */
GPUREG_FUNCTION void
SumZBlock(const NeighborhoodArguments * a,
          const SampleMaps *            maps,
          const SampleVolumes *         v,
          const NeighborhoodVolumes *   n,
          i64                           inPlane,
          int                           block)
{
  const int  length = LengthOfWindow(a, 2);
  const int  firstCentre = block * WindowsAtOnce;
  const int  first = a->firstCentre + firstCentre - a->radius[2];
  WindowSums windows[NeighborhoodSumCount];
  for (int s = 0; s < NeighborhoodSumCount; ++s)
  {
    StartWindowSums(windows + s);
  }
  if (length == 1)
  {
    for (int w = 0; w < WindowsAtOnce; ++w)
    {
      const NeighborhoodSums one = ComputeSumsInPlane(a, maps, v, n, inPlane, first + w);
      for (int s = 0; s < NeighborhoodSumCount; ++s)
      {
        windows[s].sum[w] = one.sum[s];
      }
    }
  }
  else
  {
    for (int i = 0; i < WindowsAtOnce - 1; ++i)
    {
      const NeighborhoodSums one = ComputeSumsInPlane(a, maps, v, n, inPlane, first + i);
      for (int s = 0; s < NeighborhoodSumCount; ++s)
      {
        AddToFirstWindows(i, one.sum[s], windows + s);
      }
    }
    for (int i = WindowsAtOnce - 1; i < length; ++i)
    {
      const NeighborhoodSums one = ComputeSumsInPlane(a, maps, v, n, inPlane, first + i);
      for (int s = 0; s < NeighborhoodSumCount; ++s)
      {
        AddToAllWindows(one.sum[s], windows + s);
      }
    }
    for (int s = 0; s < NeighborhoodSumCount; ++s)
    {
      FinishCommonOfWindows(windows + s);
    }
    for (int w = 1; w < WindowsAtOnce; ++w)
    {
      const NeighborhoodSums one = ComputeSumsInPlane(a, maps, v, n, inPlane, first + length - 1 + w);
      for (int s = 0; s < NeighborhoodSumCount; ++s)
      {
        FinishWindow(w, one.sum[s], windows + s);
      }
    }
  }
  for (int w = 0; w < WindowsAtOnce; ++w)
  {
    if (firstCentre + w < a->centrePlanes)
    {
      for (int s = 0; s < NeighborhoodSumCount; ++s)
      {
        n->sums[s * CentreVoxels(a) + (firstCentre + w) * VoxelsOfPlane(a) + inPlane] = windows[s].sum[w];
      }
    }
  }
}

/** The layout of a tile in local memory. For each sum there are the rows of the centres and their neighbours; behind these, in place of
 *  the sums along y that are no longer needed, the finished sums of a strip of as many rows as a group has lanes for. */
typedef struct TileShape
{
  int width; /* columns of centres and of their neighbours */
  int height;
  int pitch;     /* odd, so that lanes at the same column of several rows access different banks */
  int sumStride; /* 8 more than a multiple of 16, so that accesses to two sums meet different banks, too */
} TileShape;

/** Returns the number of rows that a tile stores at a time. */
GPUREG_FUNCTION i64
RowsOfTile(const NeighborhoodArguments * a, int tileRows, int lanes)
{
  const i64 around = 2 * (i64)a->radius[1];
  const i64 strip = lanes / TileWidth;
  return tileRows + (around > strip ? around : strip);
}

/** Returns the number of doubles between two sums of a tile, in 64 bits, since it may far exceed the local memory. */
GPUREG_FUNCTION i64
SumStrideOfTile(const NeighborhoodArguments * a, int tileRows, int lanes)
{
  const i64 elements = RowsOfTile(a, tileRows, lanes) * (TileWidth + 2 * (i64)a->radius[0] + 1);
  return (elements + 7) / 16 * 16 + 8;
}

GPUREG_FUNCTION TileShape
MakeTileShape(const NeighborhoodArguments * a, int lanes)
{
  TileShape tile;
  tile.width = TileWidth + 2 * a->radius[0];
  tile.height = a->tileRows + 2 * a->radius[1];
  tile.pitch = tile.width + 1;
  tile.sumStride = (int)SumStrideOfTile(a, a->tileRows, lanes);
  return tile;
}

GPUREG_FUNCTION int
CountTilesAlongX(const NeighborhoodArguments * a)
{
  return (a->samples.virtualShape.size[0] + TileWidth - 1) / TileWidth;
}

GPUREG_FUNCTION int
CountTilesAlongY(const NeighborhoodArguments * a)
{
  return (a->samples.virtualShape.size[1] + a->tileRows - 1) / a->tileRows;
}

/** Returns the number of columns of tiles, which are cut into segments along z. */
GPUREG_FUNCTION int
CountTileColumns(const NeighborhoodArguments * a)
{
  return CountTilesAlongX(a) * CountTilesAlongY(a) * a->segmentCount;
}

GPUREG_NAMESPACE_END

#endif
