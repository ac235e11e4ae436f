// SPDX-License-Identifier: Apache-2.0
// The work-group of the resampler, for the devices that have work-groups: CUDA and OpenCL.
// src/host/ResamplePasses.cpp says the same in plain loops.
//
// A prelude for this adds: GPUREG_REAL_GROUP_FUNCTION, LaneIndex(), LaneCount(), GroupIndex(), BandIndex(), RowBarrier().
#ifndef gpureg_kernels_ResampleKernels_h
#define gpureg_kernels_ResampleKernels_h

GPUREG_NAMESPACE_BEGIN

/** Makes its part of the rows from firstRow on; row y + z·outputSize[1] is that at (y, z).
 *  columns: local, 3 · MaximumRowColumns for each row of the group; only used where the chain follows rows. */
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
  const int lane = LaneIndex() % ResampleRowLanes;
  const int rowOfGroup = LaneIndex() / ResampleRowLanes;
  const int row = GroupIndex() * (LaneCount() / ResampleRowLanes) + rowOfGroup;
  /* Lanes behind the last row help with its columns: of rows behind it, there may be no control points. */
  const int madeRow = firstRow + (row < rowCount ? row : rowCount - 1);
  const int z = madeRow / a->outputSize[1];
  const int y = madeRow - z * a->outputSize[1];
  const int firstX = BandIndex() * (ResampleRowLanes * ResampleLaneSteps);
  const int endX = a->outputSize[0] < firstX + ResampleRowLanes * ResampleLaneSteps
                     ? a->outputSize[0]
                     : firstX + ResampleRowLanes * ResampleLaneSteps;
  int       firstColumn = 0;
  i64       gridPosition = 0;
  i64       position[3];
  ChainPart first;

  GPUREG_LOCAL real * rowColumns = columns + 3 * MaximumRowColumns * rowOfGroup;
  if (chain == ChainFollowsRows)
  {
    first = parts[0];
    const int columnCount = FindColumnsOfRow(&first, firstX, endX - 1, y, z, &firstColumn);
    SumColumnsOfRow(&first, vectors, firstColumn, columnCount, lane, ResampleRowLanes, y, z, rowColumns);
    RowBarrier();
    gridPosition = ApplyFixedRow(&first.toGrid, 0, firstX + lane, y, z);
  }
  if (row >= rowCount)
  {
    return;
  }
  FindInputPosition(a, firstX + lane, y, z, position);
  GPUREG_GLOBAL real * out = output + ((i64)row * a->outputSize[0] + firstX + lane) * components;
  for (int x = firstX + lane; x < endX; x += ResampleRowLanes, out += ResampleRowLanes * components)
  {
    int  cell[3];
    real fraction[3], d[3];
    d[0] = 0.0f;
    d[1] = 0.0f;
    d[2] = 0.0f;
    if (chain == ChainFollowsRows)
    {
      AddFromColumns(&first, rowColumns, firstColumn, gridPosition, d);
      gridPosition += first.toGrid.row[0] * ResampleRowLanes;
    }
    if (chain == ChainHasParts)
    {
      DisplaceByChain(a->partCount, parts, vectors, x, y, z, d);
    }
    SplitPosition(position, chain != ChainIsAffine ? d : 0, cell, fraction);
    ResampleAt(interpolation, components, a, input, outside, cell, fraction, out);
    position[0] += a->toInput.row[0] * ResampleRowLanes;
    position[1] += a->toInput.row[4] * ResampleRowLanes;
    position[2] += a->toInput.row[8] * ResampleRowLanes;
  }
}

GPUREG_NAMESPACE_END

#endif
