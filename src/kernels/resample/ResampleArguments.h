// SPDX-License-Identifier: Apache-2.0
// Defines the arguments of a launch of the resampler: the interpolation, the chain, the input slab, and how the output is cut into groups.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ResampleArguments_h
#define gpureg_kernels_ResampleArguments_h

GPUREG_NAMESPACE_BEGIN

/** The interpolations. */
enum
{
  ResampleNearest = 0,
  ResampleLinear = 1,
  ResampleBSpline0 = 2,
  ResampleBSpline1 = 3,
  ResampleBSpline2 = 4,
  ResampleBSpline3 = 5,
  ResampleBSpline4 = 6,
  ResampleBSpline5 = 7
};

GPUREG_FUNCTION int
BSplineOfOrder(int order)
{
  return ResampleBSpline0 + order;
}

GPUREG_FUNCTION int
OrderOfBSpline(int interpolation)
{
  return interpolation - ResampleBSpline0;
}

/** Sizes by which the output is cut, for the devices that have work-groups. */
enum
{
  /** Lanes side by side along a row; a group has as many rows as it has lanes for. With two rows to a warp, reads touch the fewest cache
   *  lines, however the input is oriented (measured). */
  ResampleTileLanes = 16,
  /** Stands for any interpolation where kernels are compiled for one: AnyConstant. */
  AnyInterpolation = -1000,
  /** Lanes side by side where a part of the chain follows rows: a warp shares a row's columns of control points. */
  ResampleRowLanes = 32,
  /** Voxels that a lane makes, one after the other, from what it computes once. */
  ResampleLaneSteps = 8,
  /** The most columns of control points in a row of a group, where a part follows rows. */
  MaximumRowColumns = ResampleRowLanes * ResampleLaneSteps / RowSplineSpacing + RowSplineOrder + 2,
  /** The number of groups along the axis of GroupIndexY() that every device supports. */
  ResampleMostPlaneGroups = 65535,
  /** The most rows of a volume. The numbers of the rows that a lane steps over behind the last row still fit into 32 bits. */
  ResampleMostRows = 1073741824
};

/** The ways in which the chain is applied. */
enum
{
  ChainIsAffine = 0,
  ChainHasParts = 1,
  /** The chain's only part is a B-spline whose rows are parallel to the output's, see FollowsRows(). */
  ChainFollowsRows = 2
};

/** The rows of the output that a launch makes, and how groups share them. */
typedef struct ResampleCut
{
  int firstRow; /* row y + z·outputSize[1] is row y of plane z */
  int rowCount;

  /* Computed by CutIntoGroups: */
  int groupsPerRow; /* groups side by side along a row */
  int firstY;       /* first row in each plane */
  int blockRows;    /* rows of a group */
  int firstZ;       /* first plane */
  int steps;        /* voxels that a lane makes one after the other */
  int stepY;        /* rows from one of a lane's voxels to its next … */
  int stepZ;
  int rowStep;  /* … the same as a step of the row's number */
  int laneRows; /* steps · rowStep, at most ResampleMostRows */
  i64 positionStep[3];
} ResampleCut;

/** Arguments of a launch of the resampler besides its arrays. Indices of the output are relative to the region to be made, those of the
 *  input to its buffer. */
typedef struct ResampleArguments
{
  FixedMap toInput;
  i64      firstVoxel; /* first voxel of the input slab that the device holds */
  int      inputSize[3];
  int      outputSize[2]; /* voxels in a row, rows in a plane */
  int      components;
  int      interpolation;
  int      partCount;
  int      extrapolates; /* beyond the input, its edge is repeated; otherwise the output is `outside` */
  int      isOfIntegers; /* the input's voxels are integers */
  int      slabAxis;     /* the input slab owns the voxels from slabBegin to before slabEnd along this axis; */
  int      slabBegin;    /* the device also holds those around them that interpolation reads */
  int      slabEnd;
  int      isFirstSlab; /* writes the outputs outside of the input, too */
  int      isOnlySlab;
  int      chain; /* ChainIsAffine or one of the others */

  ResampleCut cut;
} ResampleArguments;

GPUREG_NAMESPACE_END

#endif
