// SPDX-License-Identifier: Apache-2.0
// The work-group of the resampler, for the devices that have work-groups: CUDA and OpenCL. src/host/resample/ResamplePasses.cpp computes
// the same in plain loops.
//
// A prelude for this adds: GPUREG_REAL_GROUP_FUNCTION, LaneIndex(), GroupIndex(), GroupIndexY(), RowBarrier().
#ifndef gpureg_kernels_ResampleKernels_h
#define gpureg_kernels_ResampleKernels_h

GPUREG_NAMESPACE_BEGIN

/** Resamples a tile of ResampleTileLanes columns, in which each lane makes its voxels one after the other. */
GPUREG_REAL_GROUP_FUNCTION void
ResampleTile(int                             interpolation,
             int                             chain,
             int                             components,
             const ResampleArguments *       a,
             GPUREG_GLOBAL const ChainPart * parts,
             GPUREG_GLOBAL const float4 *    vectors,
             GPUREG_GLOBAL const real *      input,
             GPUREG_GLOBAL const real *      outside,
             GPUREG_GLOBAL real *            output)
{
  const int block = GroupIndex() / a->cut.groupsPerRow;
  const int x = (GroupIndex() - block * a->cut.groupsPerRow) * ResampleTileLanes + LaneIndex() % ResampleTileLanes;
  int       y = a->cut.firstY + block * a->cut.blockRows + LaneIndex() / ResampleTileLanes;
  int       z = a->cut.firstZ + GroupIndexY() * a->cut.steps;
  if (x >= a->outputSize[0] || y >= a->outputSize[1])
  {
    return;
  }
  int       row = z * a->outputSize[1] + y - a->cut.firstRow;
  const int end = a->cut.rowCount - row > a->cut.laneRows ? row + a->cut.laneRows : a->cut.rowCount;
  if (row < 0)
  {
    /* The launch does not contain this lane's voxel in the first plane. */
    row += a->cut.rowStep;
    y += a->cut.stepY;
    z += a->cut.stepZ;
  }
  i64 position[3];
  ComputeInputPosition(a, x, y, z, position);
  GPUREG_GLOBAL real * out = output + ((i64)row * a->outputSize[0] + x) * components;
  const i64            outStep = (i64)a->cut.rowStep * a->outputSize[0] * components;
  for (; row < end; row += a->cut.rowStep, out += outStep)
  {
    real d[3] = { 0.0f, 0.0f, 0.0f };
    if (chain == ChainHasParts)
    {
      DisplaceByChain(a->partCount, parts, vectors, x, y, z, d);
    }
    ResampleMoved(interpolation, components, a, input, outside, position, chain != ChainIsAffine ? d : 0, out);
    y += a->cut.stepY;
    z += a->cut.stepZ;
    for (int r = 0; r < 3; ++r)
    {
      position[r] += a->cut.positionStep[r];
    }
  }
}

/** Resamples rows with ResampleRowLanes lanes each; the columns of control points of a row are summed first, side by side. columns:
 *  local memory, 3 · MaximumRowColumns for each row of the group. */
GPUREG_REAL_GROUP_FUNCTION void
ResampleRows(int                             interpolation,
             int                             components,
             const ResampleArguments *       a,
             GPUREG_GLOBAL const ChainPart * parts,
             GPUREG_GLOBAL const float4 *    vectors,
             GPUREG_GLOBAL const real *      input,
             GPUREG_GLOBAL const real *      outside,
             GPUREG_LOCAL real *             columns,
             GPUREG_GLOBAL real *            output)
{
  const int lane = LaneIndex() % ResampleRowLanes;
  const int rowOfGroup = LaneIndex() / ResampleRowLanes;
  const int block = GroupIndex() / a->cut.groupsPerRow;
  const int row = block * a->cut.blockRows + rowOfGroup;
  /* Lanes behind the last row help to sum its columns: rows behind it may have no control points. */
  const int madeRow = a->cut.firstRow + (row < a->cut.rowCount ? row : a->cut.rowCount - 1);
  const int z = madeRow / a->outputSize[1];
  const int y = madeRow - z * a->outputSize[1];
  const int firstX = (GroupIndex() - block * a->cut.groupsPerRow) * (ResampleRowLanes * ResampleLaneSteps);
  const int endX = a->outputSize[0] - firstX < ResampleRowLanes * ResampleLaneSteps
                     ? a->outputSize[0]
                     : firstX + ResampleRowLanes * ResampleLaneSteps;
  int       firstColumn = 0;
  i64       position[3];

  GPUREG_LOCAL real * rowColumns = columns + 3 * MaximumRowColumns * rowOfGroup;
  const ChainPart     part = parts[0];
  const int           columnCount = LocateColumnsOfRow(&part, firstX, endX - 1, y, z, &firstColumn);
  SumColumnsOfRow(&part, vectors, firstColumn, columnCount, lane, ResampleRowLanes, y, z, rowColumns);
  RowBarrier();
  if (row >= a->cut.rowCount)
  {
    return;
  }
  i64 gridPosition = ApplyFixedRow(&part.toGrid, 0, firstX + lane, y, z);
  ComputeInputPosition(a, firstX + lane, y, z, position);
  GPUREG_GLOBAL real * out = output + ((i64)row * a->outputSize[0] + firstX + lane) * components;
  for (int x = firstX + lane; x < endX; x += ResampleRowLanes, out += ResampleRowLanes * components)
  {
    real d[3] = { 0.0f, 0.0f, 0.0f };
    AddFromColumns(&part, rowColumns, firstColumn, gridPosition, d);
    gridPosition += part.toGrid.row[0] * ResampleRowLanes;
    ResampleMoved(interpolation, components, a, input, outside, position, d, out);
    position[0] += a->toInput.row[0] * ResampleRowLanes;
    position[1] += a->toInput.row[4] * ResampleRowLanes;
    position[2] += a->toInput.row[8] * ResampleRowLanes;
  }
}

#ifdef __cplusplus
/** The ways of resampling for which kernels are compiled: interpolation, kind of chain, and whether there is one component. On a processor
 *  one kernel is for all. */
struct ResampleTileVariants
{
  static constexpr int  constants = 3;
  static constexpr int  values[][3] = { { ResampleNearest, ChainIsAffine, 1 },  { ResampleNearest, ChainIsAffine, 0 },
                                        { ResampleNearest, ChainHasParts, 1 },  { ResampleNearest, ChainHasParts, 0 },
                                        { ResampleLinear, ChainIsAffine, 1 },   { ResampleLinear, ChainIsAffine, 0 },
                                        { ResampleLinear, ChainHasParts, 1 },   { ResampleLinear, ChainHasParts, 0 },
                                        { ResampleBSpline3, ChainIsAffine, 1 }, { ResampleBSpline3, ChainHasParts, 1 },
                                        { AnyInterpolation, ChainIsAffine, 1 }, { AnyInterpolation, ChainHasParts, 1 } };
  static constexpr bool areLookedUp = true;
};

/** Variants of the kernel whose chain follows rows: interpolation, and whether there is one component. */
struct ResampleRowsVariants
{
  static constexpr int  constants = 2;
  static constexpr int  values[][2] = { { ResampleNearest, 1 }, { ResampleNearest, 0 },  { ResampleLinear, 1 },
                                        { ResampleLinear, 0 },  { ResampleBSpline3, 1 }, { AnyInterpolation, 1 } };
  static constexpr bool areLookedUp = true;
};
#endif

/** Returns the interpolation for which a kernel is compiled, or the launch's if the kernel is for any. */
GPUREG_FUNCTION int
GetInterpolation(int interpolation, const ResampleArguments * a)
{
  return interpolation == AnyInterpolation ? a->interpolation : interpolation;
}

/** Makes this group's part of the rows that CutIntoGroups has partitioned. output: these rows. */
GPUREG_REAL_GROUP_FUNCTION void
ResampleTileGroup(int                             interpolation,
                  int                             chain,
                  int                             isScalar,
                  const ResampleArguments *       a,
                  GPUREG_GLOBAL const real *      input,
                  GPUREG_GLOBAL const ChainPart * parts,
                  GPUREG_GLOBAL const float4 *    vectors,
                  GPUREG_GLOBAL const real *      outside,
                  GPUREG_GLOBAL real *            output)
{
  const int components = isScalar ? 1 : a->components;
  ResampleTile(GetInterpolation(interpolation, a), chain, components, a, parts, vectors, input, outside, output);
}

GPUREG_REAL_GROUP_KERNEL(ResampleTileGroup, ResampleTileVariants, 256, 0, "resampling");

/** Makes the same where the chain follows rows. This kernel has a barrier, the other one has none, and no kernel chooses between them at
 *  run time, where the barrier would be in one branch: PoCL 5.0 compiled such a kernel so that in most builds every lane computed lane 0's
 *  voxels, without an error. */
GPUREG_REAL_GROUP_FUNCTION void
ResampleRowsGroup(int                             interpolation,
                  int                             isScalar,
                  const ResampleArguments *       a,
                  GPUREG_GLOBAL const real *      input,
                  GPUREG_GLOBAL const ChainPart * parts,
                  GPUREG_GLOBAL const float4 *    vectors,
                  GPUREG_GLOBAL const real *      outside,
                  GPUREG_GLOBAL real *            output,
                  GPUREG_LOCAL real *             columns)
{
  const int components = isScalar ? 1 : a->components;
  ResampleRows(GetInterpolation(interpolation, a), components, a, parts, vectors, input, outside, columns, output);
}

GPUREG_REAL_GROUP_KERNEL(ResampleRowsGroup, ResampleRowsVariants, 256, 3 * MaximumRowColumns, "resampling");

GPUREG_NAMESPACE_END

#endif
