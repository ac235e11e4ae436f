// SPDX-License-Identifier: Apache-2.0
// The work-groups of control points and samples, for the devices that have work-groups: CUDA and OpenCL.
// src/host/metric/samples/ControlGridPasses.cpp computes the same in plain loops; tests compare the two.
#ifndef gpureg_kernels_ControlGridKernels_h
#define gpureg_kernels_ControlGridKernels_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** The floats of local memory of a row's segment. */
  RowScratch = 3 * (MostSegmentColumns + SegmentVoxels)
};

/** Computes the displacements of segments of rows, with ControlRowLanes lanes each: the columns of control points with non-zero weights
 *  in a segment are summed first. rowWeights and rowFirsts: the weights along x, and the first column with a non-zero weight, or -1; in
 *  separate arrays, so that neighbouring lanes read adjacent elements. segmentColumns: for each segment of a row, its first column and
 *  the number of its columns; expanded: see ExpandAlongZ; displacement: float[3] for each voxel; scratch: for each row of the group its
 *  columns, 3·MostSegmentColumns floats, and its displacements, 3·SegmentVoxels floats, so that neighbouring lanes store adjacent
 *  floats. */
GPUREG_GROUP_FUNCTION void
MoveRowsGroup(const ControlGridArguments *         a,
              GPUREG_GLOBAL const float4 *         rowWeights,
              GPUREG_GLOBAL const ControlWeights * weights,
              GPUREG_GLOBAL const int *            rowFirsts,
              GPUREG_GLOBAL const int *            segmentColumns,
              GPUREG_GLOBAL const float4 *         expanded,
              GPUREG_GLOBAL float *                displacement,
              GPUREG_LOCAL float *                 scratch)
{
  const int lane = LaneIndex() % ControlRowLanes;
  const int rowOfGroup = LaneIndex() / ControlRowLanes;
  const int segments = CountSegments(a);
  const int block = GroupIndex() / segments;
  const int segment = GroupIndex() - block * segments;
  const int row = block * (LaneCount() / ControlRowLanes) + rowOfGroup;
  const int rows = a->virtualSize[1] * a->virtualSize[2];
  /* Lanes behind the last row help to sum its columns. */
  const int madeRow = row < rows ? row : rows - 1;
  const int z = madeRow / a->virtualSize[1];

  GPUREG_GLOBAL const ControlWeights * wy = weights + a->firstWeights[1] + (madeRow - z * a->virtualSize[1]);
  GPUREG_GLOBAL const float4 *         plane = expanded + (i64)z * a->size[0] * a->size[1];
  GPUREG_LOCAL float *                 rowColumns = scratch + RowScratch * rowOfGroup;
  const int                            firstColumn = segmentColumns[2 * segment];
  const int                            isValid = wy->first >= 0;
  for (int i = lane; isValid && i < segmentColumns[2 * segment + 1]; i += ControlRowLanes)
  {
    float sum[3];
    SumControlColumn(a, plane, firstColumn + i, wy, sum);
    rowColumns[3 * i] = sum[0];
    rowColumns[3 * i + 1] = sum[1];
    rowColumns[3 * i + 2] = sum[2];
  }
  RowBarrier();
  const int            begin = segment * SegmentVoxels;
  const int            end = a->virtualSize[0] - begin < SegmentVoxels ? a->virtualSize[0] : begin + SegmentVoxels;
  GPUREG_LOCAL float * rowMoved = rowColumns + 3 * MostSegmentColumns;
  for (int x = begin + lane; x < end; x += ControlRowLanes)
  {
    const int first = rowFirsts[x];
    float     sum[3] = { 0.0f, 0.0f, 0.0f };
    if (isValid && first >= 0)
    {
      SumControlRow(a->taps[0], rowColumns + 3 * (first - firstColumn), rowWeights[x], sum);
    }
    rowMoved[3 * (x - begin)] = sum[0];
    rowMoved[3 * (x - begin) + 1] = sum[1];
    rowMoved[3 * (x - begin) + 2] = sum[2];
  }
  RowBarrier();
  GPUREG_GLOBAL float * out = displacement + 3 * ((i64)row * a->virtualSize[0] + begin);
  for (int i = lane; row < rows && i < 3 * (end - begin); i += ControlRowLanes)
  {
    out[i] = rowMoved[i];
  }
}

GPUREG_GROUP_KERNEL(MoveRowsGroup, 256, RowScratch, "moving voxels by control points");

/** Computes the adjoint interpolation along adjacent lines, for a tile of control points: groups along x have the lines, along y the tiles,
 *  and along z the slices along the outer axis. in: float[outer][length][inner]; out: float[outer][controls][inner]. */
GPUREG_GROUP_FUNCTION void
ApplyAdjointAlongGroup(const AdjointArguments *             a,
                       GPUREG_GLOBAL const float *          in,
                       GPUREG_GLOBAL const ControlWeights * weights,
                       GPUREG_GLOBAL const ControlTile *    tiles,
                       GPUREG_GLOBAL float *                out)
{
  const i64         line = (i64)GroupIndex() * LaneCount() * AdjointLines + LaneIndex();
  const ControlTile tile = tiles[a->firstTile + GroupIndexY()];
  const i64         outer = GroupIndexZ();
  const i64         lines = (a->inner - line + LaneCount() - 1) / LaneCount();
  if (line < a->inner)
  {
    ApplyAdjointAlongLines(a,
                           weights,
                           &tile,
                           lines < AdjointLines ? (int)lines : AdjointLines,
                           LaneCount(),
                           in + outer * a->length * a->inner + line,
                           out + outer * a->controls * a->inner + line);
  }
}

GPUREG_GROUP_KERNEL(ApplyAdjointAlongGroup, 32, 0, "summing forces along an axis");

/** Computes the adjoint interpolation along x, with a lane for each control point of ControlRowLanes side by side. Groups along x have the
 *  rows, because there may be more of them than a device has groups along y. in: float[outer][length][3]; out: float4[outer][controls]. */
GPUREG_GROUP_FUNCTION void
ApplyAdjointAlongXGroup(const AdjointArguments *             a,
                        GPUREG_GLOBAL const float *          in,
                        GPUREG_GLOBAL const ControlWeights * weights,
                        GPUREG_GLOBAL const ControlTile *    tiles,
                        GPUREG_GLOBAL float4 *               out)
{
  const int control = GroupIndexY() * ControlRowLanes + LaneIndex() % ControlRowLanes;
  const int outer = GroupIndex() * (LaneCount() / ControlRowLanes) + LaneIndex() / ControlRowLanes;
  if (control < a->controls && outer < a->outer)
  {
    const ControlTile tile = tiles[a->firstTile + control];
    ApplyAdjointAlongRow(a, weights, &tile, control, in + (i64)outer * a->length * 3, out + (i64)outer * a->controls);
  }
}

GPUREG_GROUP_KERNEL(ApplyAdjointAlongXGroup, 64, 0, "summing forces along rows");

/** Computes the gradient of one control point, by one group, from the samples of its cells. cellBegins: where each cell's samples begin
 *  in `order`, and one more; scratch: LaneCount() floats. */
GPUREG_GROUP_FUNCTION void
ApplyAdjointAtSamplesGroup(const ChainPart *           part,
                           const VolumeShape *         shape,
                           const SampleCells *         cells,
                           GPUREG_GLOBAL const i64 *   points,
                           GPUREG_GLOBAL const u32 *   order,
                           GPUREG_GLOBAL const u32 *   cellBegins,
                           GPUREG_GLOBAL const float * forces,
                           GPUREG_GLOBAL float4 *      controlForces,
                           GPUREG_LOCAL float *        scratch)
{
  const int row = GroupIndex() / part->size[0];
  const int control[3] = { GroupIndex() - row * part->size[0], row % part->size[1], row / part->size[1] };
  float     sum[3] = { 0.0f, 0.0f, 0.0f };
  int       begin[3], end[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    begin[axis] = control[axis] < cells->taps[axis] ? 0 : control[axis] - cells->taps[axis] + 1;
    end[axis] = control[axis] < cells->size[axis] ? control[axis] + 1 : cells->size[axis];
  }
  for (int z = begin[2]; z < end[2]; ++z)
  {
    for (int y = begin[1]; y < end[1]; ++y)
    {
      /* Adjacent cells along x follow each other. */
      const i64 firstCell = (i64)(z * cells->size[1] + y) * cells->size[0];
      AddForcesOfCell(part,
                      shape,
                      cells->isOfPoints,
                      points,
                      order,
                      (i64)cellBegins[firstCell + begin[0]] + LaneIndex(),
                      cellBegins[firstCell + end[0]],
                      LaneCount(),
                      control,
                      forces,
                      sum);
    }
  }
  for (int r = 0; r < 3; ++r)
  {
    sum[r] = SumOverLanes(sum[r], scratch);
  }
  if (LaneIndex() == 0)
  {
    controlForces[GroupIndex()] = TurnSum(cells->matrix, sum);
  }
}

GPUREG_GROUP_KERNEL(ApplyAdjointAtSamplesGroup, 128, 32, "summing samples' forces");

GPUREG_NAMESPACE_END

#endif
