// SPDX-License-Identifier: Apache-2.0
// How the resampler's output is cut for the devices that have work-groups.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ResampleCut_h
#define gpureg_kernels_ResampleCut_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Lanes side by side along a row; a group has so many rows as it has lanes for. Two rows of a warp read from the
   *  fewest of a cache's lines, however the input is turned: measured. */
  ResampleTileLanes = 16,
  /** The same where a part of the chain follows rows: a row's columns are a warp's. */
  ResampleRowLanes = 32,
  /** Voxels that a lane makes, one after the other: what it works out for the first serves them all. */
  ResampleLaneSteps = 8,
  /** Groups that a device counts at least in BandIndex()'s direction. */
  ResampleMostPlaneGroups = 65535
};

/** The rows of the output that a launch makes, and how groups share them. */
typedef struct ResampleCut
{
  int firstRow; /* row y + z·outputSize[1] is that at (y, z) */
  int rowCount;
  int firstY; /* rows of a plane from this one on, … */
  int firstZ; /* … in planes from this one on */
  int planes;
  int bands; /* groups side by side along a row */
  int axis;  /* along which a lane's voxels follow each other */
  int steps; /* so many at most */
} ResampleCut;

GPUREG_FUNCTION int
CountParts(int count, int part)
{
  return (count - 1) / part + 1;
}

/** A lane's voxels follow each other along the slowest axis that rows have several of, where the input that a group
 *  reads is most often what it has just read; along the row where followsRows.
 *  \param outputSize voxels in a row, rows in a plane */
GPUREG_FUNCTION ResampleCut
CutIntoGroups(const int * outputSize, int followsRows, int firstRow, int rowCount)
{
  ResampleCut cut;
  cut.firstRow = firstRow;
  cut.rowCount = rowCount;
  cut.firstZ = firstRow / outputSize[1];
  cut.planes = (firstRow + (rowCount - 1)) / outputSize[1] - cut.firstZ + 1;
  cut.firstY = cut.planes > 1 ? 0 : firstRow - cut.firstZ * outputSize[1];
  cut.axis = followsRows ? 0 : (cut.planes > 1 ? 2 : 1);
  cut.bands = CountParts(outputSize[0], followsRows ? ResampleRowLanes * ResampleLaneSteps : ResampleTileLanes);
  const int least = cut.axis == 2 ? CountParts(cut.planes, ResampleMostPlaneGroups) : 1;
  cut.steps = least > ResampleLaneSteps ? least : ResampleLaneSteps;
  return cut;
}

/** The groups of so many lanes that a launch wants: those that GroupIndex() counts … */
GPUREG_FUNCTION i64
CountGroups(const ResampleCut * cut, const int * outputSize, int lanes)
{
  const int rows = lanes / (cut->axis == 0 ? ResampleRowLanes : ResampleTileLanes);
  const int rowsOfPlane = cut->axis == 2 ? outputSize[1] : cut->rowCount;
  return (i64)CountParts(rowsOfPlane, cut->axis == 1 ? rows * cut->steps : rows) * cut->bands;
}

/** … for each one that BandIndex() counts. */
GPUREG_FUNCTION int
CountPlaneGroups(const ResampleCut * cut)
{
  return cut->axis == 2 ? CountParts(cut->planes, cut->steps) : 1;
}

GPUREG_NAMESPACE_END

#endif
