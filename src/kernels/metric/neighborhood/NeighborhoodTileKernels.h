// SPDX-License-Identifier: Apache-2.0
// The work-groups that sum over neighborhoods in tiles, for the devices that have work-groups: CUDA and OpenCL. `lanes` is LaneCount(), as
// a compile-time constant where possible.
#ifndef gpureg_kernels_NeighborhoodTileKernels_h
#define gpureg_kernels_NeighborhoodTileKernels_h

GPUREG_NAMESPACE_BEGIN

/** Sums along z. The first axis of groups runs within a plane, the second one over blocks of planes. */
GPUREG_GROUP_FUNCTION void
SumAlongZGroup(int                           lanes,
               const NeighborhoodArguments * a,
               const SampleMaps *            maps,
               const SampleVolumes *         v,
               const NeighborhoodVolumes *   n)
{
  const int width = lanes / ZBlocksOfGroup;
  const i64 inPlane = (i64)GroupIndex() * width + LaneIndex() % width;
  for (int first = GroupIndexY() * ZBlocksOfGroup; first < CountZBlocks(a); first += GroupCountY() * ZBlocksOfGroup)
  {
    const int block = first + LaneIndex() / width;
    if (inPlane < VoxelsOfPlane(a) && block < CountZBlocks(a))
    {
      SumZBlock(a, maps, v, n, inPlane, block);
    }
  }
}

/** Loads the sums along z into a tile. corner: the tile's first centre, of a plane of centres. */
GPUREG_GROUP_FUNCTION void
LoadTile(int                           lanes,
         const NeighborhoodArguments * a,
         const TileShape *             shape,
         const NeighborhoodVolumes *   n,
         const int *                   corner,
         int                           plane,
         GPUREG_LOCAL double *         tile)
{
  const int * size = a->samples.virtualShape.size;
  const int   lane = LaneIndex();
  const int   count = shape->width * shape->height;
  int         column = lane % shape->width;
  int         row = lane / shape->width;
  for (int first = 0; first < count; first += lanes)
  {
    if (first + lane < count)
    {
      const int        x = corner[0] - a->radius[0] + column;
      const int        y = corner[1] - a->radius[1] + row;
      NeighborhoodSums sums;
      ClearNeighborhoodSums(&sums);
      if (x >= 0 && x < size[0] && y >= 0 && y < size[1])
      {
        sums = LoadNeighborhoodSums(n->sums + VoxelOffset(&a->samples.virtualShape, x, y, plane), CentreVoxels(a));
      }
      for (int s = 0; s < NeighborhoodSumCount; ++s)
      {
        tile[s * shape->sumStride + row * shape->pitch + column] = sums.sum[s];
      }
    }
    column += lanes % shape->width;
    row += lanes / shape->width;
    if (column >= shape->width)
    {
      column -= shape->width;
      ++row;
    }
  }
}

/** Replaces the tile's rows by the sums along y at the rows of centres. One lane processes a whole column, so it overwrites only what it
 *  has read. */
GPUREG_GROUP_FUNCTION void
SumTileAlongY(int lanes, const NeighborhoodArguments * a, const TileShape * shape, GPUREG_LOCAL double * tile)
{
  const int count = NeighborhoodSumCount * shape->width;
  for (int first = 0; first < count; first += lanes)
  {
    const int item = first + LaneIndex();
    if (item < count)
    {
      GPUREG_LOCAL double * line = tile + item / shape->width * shape->sumStride + item % shape->width;
      for (int row = 0; row < a->tileRows; row += WindowsAtOnce)
      {
        const WindowSums windows = SumWindows(LengthOfWindow(a, 1), line, shape->pitch);
        for (int w = 0; w < WindowsAtOnce; ++w)
        {
          line[w * shape->pitch] = windows.sum[w];
        }
        line += WindowsAtOnce * shape->pitch;
      }
    }
  }
}

/** Sums along x, for the strip of rows from `row` on; writes the sums behind the tile's rows. */
GPUREG_GROUP_FUNCTION void
SumStripAlongX(int lanes, const NeighborhoodArguments * a, const TileShape * shape, int row, GPUREG_LOCAL double * tile)
{
  const int rows = lanes / TileWidth;
  const int lines = NeighborhoodSumCount * rows;
  const int count = lines * (TileWidth / WindowsAtOnce);
  for (int first = 0; first < count; first += lanes)
  {
    const int item = first + LaneIndex();
    if (item < count)
    {
      const int             line = item % lines;
      GPUREG_LOCAL double * place =
        tile + line / rows * shape->sumStride + line % rows * shape->pitch + item / lines * WindowsAtOnce;
      const WindowSums windows = SumWindows(LengthOfWindow(a, 0), place + row * shape->pitch, 1);
      for (int w = 0; w < WindowsAtOnce; ++w)
      {
        place[a->tileRows * shape->pitch + w] = windows.sum[w];
      }
    }
  }
}

/** Adds up the results of the centres in a strip. */
GPUREG_GROUP_FUNCTION void
CorrelateStrip(int                           variant,
               const NeighborhoodArguments * a,
               const SampleMaps *            maps,
               const SampleVolumes *         v,
               const NeighborhoodVolumes *   n,
               const TileShape *             shape,
               const int *                   corner,
               int                           row,
               int                           plane,
               GPUREG_LOCAL const double *   tile,
               CentreSums *                  sums)
{
  const int column = LaneIndex() % TileWidth;
  const int rowOfStrip = LaneIndex() / TileWidth;
  const int i = corner[0] + column;
  const int j = corner[1] + row + rowOfStrip;
  if (i < a->samples.virtualShape.size[0] && j < a->samples.virtualShape.size[1])
  {
    NeighborhoodSums neighborhood;
    for (int s = 0; s < NeighborhoodSumCount; ++s)
    {
      neighborhood.sum[s] = tile[s * shape->sumStride + (a->tileRows + rowOfStrip) * shape->pitch + column];
    }
    CorrelateCentre(variant, a, maps, v, n, i, j, a->firstCentre + plane, &neighborhood, sums);
  }
}

/** Sums along y and x, and adds up the results of the centres. tile: NeighborhoodSumCount·SumStrideOfTile() doubles, or the scratch of
 *  WriteCentreSums() if that is larger. */
GPUREG_GROUP_FUNCTION void
CorrelateTilesGroup(int                           variant,
                    int                           lanes,
                    const NeighborhoodArguments * a,
                    const SampleMaps *            maps,
                    const SampleVolumes *         v,
                    const NeighborhoodVolumes *   n,
                    GPUREG_LOCAL double *         tile,
                    GPUREG_GLOBAL float *         partials)
{
  const TileShape shape = MakeTileShape(a, lanes);
  const int       tilesX = CountTilesAlongX(a);
  const int       tilesY = CountTilesAlongY(a);
  const int       columns = CountTileColumns(a);
  CentreSums      sums;
  ClearCentreSums(&sums);
  for (int item = GroupIndex(); item < columns; item += a->groupCount)
  {
    const int corner[2] = { item % tilesX * TileWidth, item / tilesX % tilesY * a->tileRows };
    const int first = item / tilesX / tilesY * a->segmentPlanes;
    const int end = a->centrePlanes - first < a->segmentPlanes ? a->centrePlanes : first + a->segmentPlanes;
    for (int plane = first; plane < end; ++plane)
    {
      LoadTile(lanes, a, &shape, n, corner, plane, tile);
      LocalBarrier();
      SumTileAlongY(lanes, a, &shape, tile);
      LocalBarrier();
      for (int row = 0; row < a->tileRows; row += lanes / TileWidth)
      {
        SumStripAlongX(lanes, a, &shape, row, tile);
        LocalBarrier();
        CorrelateStrip(variant, a, maps, v, n, &shape, corner, row, plane, tile, &sums);
        LocalBarrier();
      }
    }
  }
  WriteCentreSums(a, &sums, (GPUREG_LOCAL float *)tile, partials);
}

GPUREG_NAMESPACE_END

#endif
