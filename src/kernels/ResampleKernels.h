// SPDX-License-Identifier: Apache-2.0
// The work-group of the resampler, for the devices that have work-groups: CUDA and OpenCL.
// src/host/ResamplePasses.cpp says the same in plain loops.
//
// A prelude for this adds: GPUREG_REAL_GROUP_FUNCTION, LaneIndex(), LaneCount(), GroupIndex(), BandIndex(), RowBarrier().
#ifndef gpureg_kernels_ResampleKernels_h
#define gpureg_kernels_ResampleKernels_h

GPUREG_NAMESPACE_BEGIN

/** Makes its tiles of the rows from firstRow on; row y + z·outputSize[1] is that at (y, z).
 *  columns: local, 3 · MaximumRowColumns for each row of a tile; only read where the chain follows rows. */
GPUREG_REAL_GROUP_FUNCTION void
ResampleGroup(int                             interpolation,
              int                             chain,
              int                             components,
              const ResampleArguments *       a,
              GPUREG_GLOBAL const ChainPart * parts,
              GPUREG_GLOBAL const float4 *    vectors,
              GPUREG_GLOBAL const real *      input,
              GPUREG_GLOBAL const real *      outside,
              int                             firstRow,
              int                             rowCount,
              GPUREG_LOCAL real *             columns,
              GPUREG_GLOBAL real *            output)
{
  const int lane = LaneIndex() % ResampleTileColumns;
  const int tileRow = LaneIndex() / ResampleTileColumns;
  const int tileRows = LaneCount() / ResampleTileColumns;
  const int firstX = BandIndex() * ResampleTileColumns;
  const int lastX = a->outputSize[0] - 1 < firstX + ResampleTileColumns - 1 ? a->outputSize[0] - 1
                                                                            : firstX + ResampleTileColumns - 1;
  const int x = firstX + lane;
  int       row = GroupIndex() * tileRows * ResampleTilesOfGroup + tileRow;
  int       z = (firstRow + row) / a->outputSize[1];
  int       y = (firstRow + row) - z * a->outputSize[1];
  i64       position[3], step[3];

  FindInputPosition(a, x, y, z, position);
  for (int r = 0; r < 3; ++r)
  {
    step[r] = a->toInput.row[4 * r + 1] * tileRows;
  }
  GPUREG_LOCAL real * rowColumns = columns + 3 * MaximumRowColumns * tileRow;
  for (int n = 0; n < ResampleTilesOfGroup; ++n, row += tileRows)
  {
    int  cell[3];
    int  firstColumn = 0;
    real fraction[3], d[3];
    d[0] = 0.0f;
    d[1] = 0.0f;
    d[2] = 0.0f;
    if (chain == ChainFollowsRows)
    {
      const ChainPart part = parts[0];
      const int       columnCount = FindColumnsOfRow(&part, firstX, lastX, y, z, &firstColumn);
      RowBarrier();
      for (int column = lane; column < columnCount; column += ResampleTileColumns)
      {
        SumColumnOfRow(&part, vectors, firstColumn + column, y, z, rowColumns + 3 * column);
      }
      RowBarrier();
      if (x <= lastX)
      {
        AddFromColumns(&part, rowColumns, firstColumn, x, y, z, d);
      }
    }
    if (x <= lastX && row < rowCount)
    {
      if (chain != ChainIsAffine)
      {
        DisplaceByChain(chain == ChainFollowsRows ? 1 : 0, a->partCount, parts, vectors, x, y, z, d);
      }
      SplitPosition(position, chain != ChainIsAffine ? d : 0, cell, fraction);
      ResampleAt(interpolation,
                 components,
                 a,
                 input,
                 outside,
                 cell,
                 fraction,
                 output + ((i64)row * a->outputSize[0] + x) * components);
    }
    y += tileRows;
    if (y < a->outputSize[1])
    {
      position[0] += step[0];
      position[1] += step[1];
      position[2] += step[2];
    }
    else
    {
      z += y / a->outputSize[1];
      y = y % a->outputSize[1];
      FindInputPosition(a, x, y, z, position);
    }
  }
}

GPUREG_NAMESPACE_END

#endif
