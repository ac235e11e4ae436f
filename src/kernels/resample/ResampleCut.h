// SPDX-License-Identifier: Apache-2.0
// Partition of a launch of the resampler into groups, for the devices that have work-groups.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ResampleCut_h
#define gpureg_kernels_ResampleCut_h

GPUREG_NAMESPACE_BEGIN

GPUREG_FUNCTION int
DivideUp(int count, int size)
{
  return (count - 1) / size + 1;
}

/** Returns the number of planes of the output that contain some of the launch's rows. */
GPUREG_FUNCTION int
CountPlanes(const ResampleArguments * a)
{
  const int height = a->outputSize[1];
  return (a->cut.firstRow + (a->cut.rowCount - 1)) / height - a->cut.firstRow / height + 1;
}

/** Computes the partition into groups. A lane's voxels follow each other along the slowest axis along which the launch has several,
 *  where a group most often reads input that it has just read; or along the row if the chain follows rows:
 *
 *  | the launch has | lanes side by side | a group's rows         | a lane's next voxel |
 *  |----------------|--------------------|------------------------|---------------------|
 *  | several planes | ResampleTileLanes  | rows, in steps planes  | a plane on          |
 *  | one plane      | ResampleTileLanes  | rows x steps           | rows on             |
 *  | rows followed  | ResampleRowLanes   | rows                   | a warp's width on   |
 *
 *  \param lanes the lanes of a group; `rows` in the table is lanes divided by the lanes side by side */
GPUREG_FUNCTION void
CutIntoGroups(ResampleArguments * a, int lanes)
{
  ResampleCut * const cut = &a->cut;
  const int           followsRows = a->chain == ChainFollowsRows;
  const int           planes = CountPlanes(a);
  const int           alongPlanes = planes > 1 && !followsRows;
  const int           rows = lanes / (followsRows ? ResampleRowLanes : ResampleTileLanes);
  const int           leastSteps = alongPlanes ? DivideUp(planes, ResampleMostPlaneGroups) : 1;
  cut->groupsPerRow =
    DivideUp(a->outputSize[0], followsRows ? ResampleRowLanes * ResampleLaneSteps : ResampleTileLanes);
  cut->steps = leastSteps > ResampleLaneSteps ? leastSteps : ResampleLaneSteps;
  cut->firstZ = a->cut.firstRow / a->outputSize[1];
  cut->firstY = alongPlanes ? 0 : cut->firstRow - cut->firstZ * a->outputSize[1];
  cut->blockRows = followsRows || alongPlanes ? rows : rows * cut->steps;
  cut->stepY = alongPlanes ? 0 : rows;
  cut->stepZ = alongPlanes;
  cut->rowStep = alongPlanes ? a->outputSize[1] : rows;
  const i64 laneRows = (i64)cut->steps * cut->rowStep;
  cut->laneRows = laneRows < ResampleMostRows ? (int)laneRows : ResampleMostRows;
  for (int r = 0; r < 3; ++r)
  {
    cut->positionStep[r] = alongPlanes ? a->toInput.row[4 * r + 2] : a->toInput.row[4 * r + 1] * rows;
  }
}

/** Returns the number of groups of the launch that GroupIndex() numbers. */
GPUREG_FUNCTION i64
CountGroups(const ResampleArguments * a)
{
  return (i64)DivideUp(a->cut.stepZ ? a->outputSize[1] : a->cut.rowCount, a->cut.blockRows) * a->cut.groupsPerRow;
}

/** Returns the number of groups of the launch that GroupIndexY() numbers. */
GPUREG_FUNCTION int
CountPlaneGroups(const ResampleArguments * a)
{
  return a->cut.stepZ ? DivideUp(CountPlanes(a), a->cut.steps) : 1;
}

GPUREG_NAMESPACE_END

#endif
