// SPDX-License-Identifier: Apache-2.0
// The grid of control points whose B-spline displaces the points of a virtual grid (Rueckert 1999): interpolation from the control points
// to the displacement of each sample, and its adjoint from the forces of the samples to those of the control points (Modat 2010, section
// 2.1.3). Both use separable weights: no Jacobian is stored, and no sum depends on the order in which lanes run.
//
// If the axes of both grids are parallel, the weights of an index along an axis depend on that index alone, and the host makes a table of
// them. Otherwise a sample's weights follow from its position in the grid.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_ControlGrid_h
#define gpureg_kernels_ControlGrid_h

GPUREG_NAMESPACE_BEGIN

enum
{
  /** Control points along an axis with non-zero weights, for the highest order. */
  MostControlTaps = 4,
  /** Lanes that share a segment of a row of the virtual grid, and the voxels that each of them displaces. */
  ControlRowLanes = 32,
  ControlRowSteps = 4,
  SegmentVoxels = ControlRowLanes * ControlRowSteps,
  /** The most columns of control points with non-zero weights in a segment. */
  MostSegmentColumns = SegmentVoxels + MostControlTaps
};

/** The B-spline weights at one index along an axis of the virtual grid. 32-bit members only. */
typedef struct ControlWeights
{
  float weight[MostControlTaps]; /* weights of the control points from the first one on; 0 beyond the order */
  int   first;                   /* -1 outside of the valid region */
  int   padding[3];
} ControlWeights;

/** Describes a control-point grid whose axes are parallel to those of the virtual grid. 32-bit members only. */
typedef struct ControlGridArguments
{
  int size[3]; /* number of control points */
  int virtualSize[3];
  int taps[3];         /* control points with weights along an axis: the order + 1; 1 along a missing axis */
  int firstWeights[3]; /* place of an axis' first weights */
} ControlGridArguments;

GPUREG_FUNCTION int
CountSegments(const ControlGridArguments * a)
{
  return (a->virtualSize[0] + SegmentVoxels - 1) / SegmentVoxels;
}

/** Writes an element of expanded[z][b][i] = Σ_c w_c p(i, b, c), the control points summed along z for each plane of the virtual grid; 0
 *  outside of the valid region. All rows of a plane share these sums. item: the element's number. */
GPUREG_FUNCTION void
ExpandAlongZ(const ControlGridArguments *         a,
             GPUREG_GLOBAL const float4 *         points,
             GPUREG_GLOBAL const ControlWeights * weights,
             GPUREG_GLOBAL float4 *               expanded,
             i64                                  item)
{
  const int                            plane = a->size[0] * a->size[1];
  const int                            z = (int)(item / plane);
  GPUREG_GLOBAL const ControlWeights * wz = weights + a->firstWeights[2] + z;
  float4                               sum = MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f);
  if (wz->first >= 0)
  {
    GPUREG_GLOBAL const float4 * point = points + (i64)wz->first * plane + (item - (i64)z * plane);
    for (int c = 0; c < a->taps[2]; ++c)
    {
      sum = MultiplyAdd4(wz->weight[c], point[(i64)c * plane], sum);
    }
  }
  expanded[item] = sum;
}

GPUREG_ITEM_KERNEL(ExpandAlongZ, 4096, "expanding control points");

/** Sums column i of a plane of those sums with weights along y. */
GPUREG_FUNCTION void
SumControlColumn(const ControlGridArguments *         a,
                 GPUREG_GLOBAL const float4 *         plane,
                 int                                  column,
                 GPUREG_GLOBAL const ControlWeights * wy,
                 float *                              sum)
{
  GPUREG_GLOBAL const float4 * point = plane + (i64)wy->first * a->size[0] + column;
  float4                       all = MakeFloat4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int b = 0; b < a->taps[1]; ++b)
  {
    all = MultiplyAdd4(wy->weight[b], point[(i64)b * a->size[0]], all);
  }
  sum[0] = all.x;
  sum[1] = all.y;
  sum[2] = all.z;
}

/** Computes the displacement with weights along x, from the sums of the columns from the first one with a non-zero weight on, float[3]
 *  each. */
GPUREG_FUNCTION void
SumControlRow(int taps, GPUREG_LOCAL const float * column, float4 weights, float * sum)
{
  for (int r = 0; r < 3; ++r)
  {
    sum[r] = MultiplyAdd(weights.y, column[3 + r], weights.x * column[r]);
    sum[r] = taps > 2 ? MultiplyAdd(weights.z, column[6 + r], sum[r]) : sum[r];
    sum[r] = taps > 3 ? MultiplyAdd(weights.w, column[9 + r], sum[r]) : sum[r];
  }
}

/** Describes the adjoint B-spline interpolation of forces along an axis: [outer][length][inner] becomes [outer][controls][inner]. Each
 *  member lies at a multiple of its size. */
typedef struct AdjointArguments
{
  i64   inner; /* floats of a slice, for which 32 bits are too few */
  int   outer;
  int   length;
  int   controls;
  int   firstWeights; /* place of the axis' first weights */
  int   firstTile;    /* place of the axis' first tile */
  int   tileCount;
  int   isBackwards; /* control points are numbered against the axis */
  float matrix[9];   /* by rows: the factor of the sums behind the last axis */
} AdjointArguments;

enum
{
  /** Lines that one lane processes together: it reads the weights of an index once for all of them. */
  AdjointLines = 4,
  /** Indices whose elements are being loaded while as many are added. */
  AdjointIndicesAhead = 2
};

/** A tile of adjacent control points of an axis, and the range of indices at which any of them has a non-zero weight. 32-bit members
 *  only. */
typedef struct ControlTile
{
  int firstControl;
  int endControl;
  int begin;
  int end;
} ControlTile;

/** Returns the n-th index of a walk over a tile. */
GPUREG_FUNCTION int
ComputeWalkedIndex(const AdjointArguments * a, const ControlTile * tile, int n)
{
  return a->isBackwards ? tile->end - 1 - n : tile->begin + n;
}

/** Writes the sums of a control point along some lines, if it belongs to the tile, and shifts the sums to make room for the next control
 *  point. sums: those of the control points from this one on, for each line. */
GPUREG_FUNCTION void
LeaveControl(const AdjointArguments * a,
             const ControlTile *      tile,
             int                      control,
             int                      lineCount,
             int                      lineStep,
             float                    sums[AdjointLines][MostControlTaps],
             GPUREG_GLOBAL float *    out)
{
  const int isMine = control >= tile->firstControl && control < tile->endControl;
  for (int line = 0; line < AdjointLines; ++line)
  {
    if (isMine && line < lineCount)
    {
      out[(i64)control * a->inner + line * lineStep] = sums[line][0];
    }
    sums[line][0] = sums[line][1];
    sums[line][1] = sums[line][2];
    sums[line][2] = sums[line][3];
    sums[line][3] = 0.0f;
  }
}

/** Reads the elements of AdjointIndicesAhead indices from `in` on, indexStep apart, along lineCount lines; 0 beyond the last of indexCount
 *  indices or lineCount lines. */
GPUREG_FUNCTION void
ReadAhead(int                         indexCount,
          i64                         indexStep,
          int                         lineCount,
          int                         lineStep,
          GPUREG_GLOBAL const float * in,
          float                       values[AdjointIndicesAhead][AdjointLines])
{
  for (int p = 0; p < AdjointIndicesAhead; ++p)
  {
    for (int line = 0; line < AdjointLines; ++line)
    {
      values[p][line] = p < indexCount && line < lineCount ? in[p * indexStep + line * lineStep] : 0.0f;
    }
  }
}

/** Computes the sums of a tile's control points along lineCount <= AdjointLines lines, which begin lineStep apart from `in` on, and
 *  writes them to `out`, where control points are `inner` apart. Each element is loaded once, ahead of its turn, and added to the sums
 *  of all control points that have a weight there. */
GPUREG_FUNCTION void
ApplyAdjointAlongLines(const AdjointArguments *             a,
                       GPUREG_GLOBAL const ControlWeights * weights,
                       const ControlTile *                  tile,
                       int                                  lineCount,
                       int                                  lineStep,
                       GPUREG_GLOBAL const float *          in,
                       GPUREG_GLOBAL float *                out)
{
  const int                            count = tile->end - tile->begin;
  const int                            step = a->isBackwards ? -1 : 1;
  const i64                            elementStep = (i64)step * a->inner;
  float                                sums[AdjointLines][MostControlTaps] = { { 0.0f }, { 0.0f }, { 0.0f }, { 0.0f } };
  float                                ahead[AdjointIndicesAhead][AdjointLines];
  int                                  control = tile->firstControl;
  GPUREG_GLOBAL const ControlWeights * w = weights + a->firstWeights + ComputeWalkedIndex(a, tile, 0);
  GPUREG_GLOBAL const float *          element = in + (i64)ComputeWalkedIndex(a, tile, 0) * a->inner;
  if (count > 0 && w->first < control)
  {
    control = w->first; /* the first control points belong to another tile */
  }
  ReadAhead(count, elementStep, lineCount, lineStep, element, ahead);
  for (int n = 0; n < count; n += AdjointIndicesAhead)
  {
    float values[AdjointIndicesAhead][AdjointLines];
    for (int p = 0; p < AdjointIndicesAhead; ++p)
    {
      for (int line = 0; line < AdjointLines; ++line)
      {
        values[p][line] = ahead[p][line];
      }
    }
    element += AdjointIndicesAhead * elementStep;
    ReadAhead(count - n - AdjointIndicesAhead, elementStep, lineCount, lineStep, element, ahead);
    for (int p = 0; p < AdjointIndicesAhead && n + p < count; ++p, w += step)
    {
      const float w0 = w->weight[0];
      const float w1 = w->weight[1];
      const float w2 = w->weight[2];
      const float w3 = w->weight[3];
      for (; control < w->first; ++control)
      {
        LeaveControl(a, tile, control, lineCount, lineStep, sums, out);
      }
      for (int line = 0; line < AdjointLines; ++line)
      {
        sums[line][0] = MultiplyAdd(w0, values[p][line], sums[line][0]);
        sums[line][1] = MultiplyAdd(w1, values[p][line], sums[line][1]);
        sums[line][2] = MultiplyAdd(w2, values[p][line], sums[line][2]);
        sums[line][3] = MultiplyAdd(w3, values[p][line], sums[line][3]);
      }
    }
  }
  for (; control < tile->endControl; ++control)
  {
    LeaveControl(a, tile, control, lineCount, lineStep, sums, out);
  }
}

/** Returns matrix·sum: the sum of forces as a gradient. */
GPUREG_FUNCTION float4
TurnSum(const float * matrix, const float * sum)
{
  float turned[3];
  for (int r = 0; r < 3; ++r)
  {
    turned[r] = MultiplyAdd(matrix[3 * r + 2], sum[2], MultiplyAdd(matrix[3 * r + 1], sum[1], matrix[3 * r] * sum[0]));
  }
  return MakeFloat4(turned[0], turned[1], turned[2], 0.0f);
}

/** Computes the gradient of one control point by adjoint interpolation along x, the last axis, whose elements are vectors. in and out
 *  belong to one row, which is short by then, and in the nearest cache. */
GPUREG_FUNCTION void
ApplyAdjointAlongRow(const AdjointArguments *             a,
                     GPUREG_GLOBAL const ControlWeights * weights,
                     const ControlTile *                  tile,
                     int                                  control,
                     GPUREG_GLOBAL const float *          in,
                     GPUREG_GLOBAL float4 *               out)
{
  const int count = tile->end - tile->begin;
  float     sum[3] = { 0.0f, 0.0f, 0.0f };
  GPUREG_UNROLL_8
  for (int n = 0; n < count; ++n)
  {
    const int                            t = ComputeWalkedIndex(a, tile, n);
    GPUREG_GLOBAL const ControlWeights * w = weights + a->firstWeights + t;
    const int                            tap = control - w->first;
    const float                          weight = tap >= 0 && tap < MostControlTaps ? w->weight[tap] : 0.0f;
    sum[0] = MultiplyAdd(weight, in[3 * (i64)t], sum[0]);
    sum[1] = MultiplyAdd(weight, in[3 * (i64)t + 1], sum[1]);
    sum[2] = MultiplyAdd(weight, in[3 * (i64)t + 2], sum[2]);
  }
  out[control] = TurnSum(a->matrix, sum);
}

/** Computes the weights of a sample's control points, and the first control point with a non-zero weight. Returns 0 outside of the valid
 *  region. */
GPUREG_FUNCTION int
ComputeControlWeights(const ChainPart * part, const i64 * position, int * first, float weights[3][MostControlTaps])
{
  for (int axis = 0; axis < 3; ++axis)
  {
    float fraction, t;
    if (axis >= part->dimension)
    {
      first[axis] = 0;
      weights[axis][0] = 1.0f;
      continue;
    }
    const i64 inGrid = ApplyFixedRowAt(&part->toGrid, axis, position);
    ComputeFraction(inGrid, &fraction);
    if (!LocateControlPoints(part->order, part, axis, IntegerPart(inGrid), fraction, first + axis, &t))
    {
      return 0;
    }
    SplineWeights(part->order, t, weights[axis]);
  }
  return 1;
}

/** Describes a control grid of any orientation, and the samples that it moves. 64-bit members come first. */
typedef struct SampleMoves
{
  ChainPart   part;
  VolumeShape shape;     /* of the virtual grid */
  int         arePoints; /* samples are points, not the grid's voxels */
} SampleMoves;

/** Computes a sample's displacement in mm. samplePoints: i64[3] for each sample, not read for voxels; displacement: float[3] for each
 *  sample. */
GPUREG_FUNCTION void
MoveSampleBySpline(const SampleMoves *          a,
                   GPUREG_GLOBAL const i64 *    samplePoints,
                   GPUREG_GLOBAL const float4 * points,
                   GPUREG_GLOBAL float *        displacement,
                   i64                          sample)
{
  i64   position[3];
  int   cell[3];
  float fraction[3];
  float moved[3] = { 0.0f, 0.0f, 0.0f };
  ComputeSamplePosition(&a->shape, a->arePoints, samplePoints, sample, position);
  for (int axis = 0; axis < 3; ++axis)
  {
    const i64 inGrid = ApplyFixedRowAt(&a->part.toGrid, axis, position);
    cell[axis] = IntegerPart(inGrid);
    ComputeFraction(inGrid, fraction + axis);
  }
  AddSplineDisplacement(a->part.order, &a->part, points, cell, fraction, moved);
  for (int r = 0; r < 3; ++r)
  {
    displacement[3 * sample + r] = moved[r];
  }
}

GPUREG_ITEM_KERNEL(MoveSampleBySpline, 128, "moving samples by control points");

/** Computes a sample's displacement in fixed point, in the units of the control points: see FixedPointGrid.h. points: i64[3] for each
 *  control point; displacement: i64[3] for each sample. */
GPUREG_FUNCTION void
MoveSampleBySplineInFixedPoint(const SampleMoves *       a,
                               GPUREG_GLOBAL const i64 * samplePoints,
                               GPUREG_GLOBAL const i64 * points,
                               GPUREG_GLOBAL i64 *       displacement,
                               i64                       sample)
{
  i64 position[3];
  i64 inGrid[3];
  i64 moved[3] = { 0, 0, 0 };
  ComputeSamplePosition(&a->shape, a->arePoints, samplePoints, sample, position);
  for (int axis = 0; axis < 3; ++axis)
  {
    inGrid[axis] = ApplyFixedRowAt(&a->part.toGrid, axis, position);
  }
  AddFixedSplineDisplacement(&a->part, points, inGrid, moved);
  for (int r = 0; r < 3; ++r)
  {
    displacement[3 * sample + r] = moved[r];
  }
}

GPUREG_ITEM_KERNEL(MoveSampleBySplineInFixedPoint, 64, "moving samples by control points in integers");

/** Samples are sorted by cell, the index of the first control points with non-zero weights. A control point sums over the cells in which
 *  its weight is not zero. 32-bit members only. */
typedef struct SampleCells
{
  int   size[3]; /* cells along each axis */
  int   taps[3];
  int   isOfPoints;
  float matrix[9]; /* as in AdjointArguments */
} SampleCells;

/** Returns the weight of control point (i, j, k) for a sample; 0 outside of its support. */
GPUREG_FUNCTION float
ComputeWeightOfControl(const ChainPart * part, const i64 * position, const int * control)
{
  int   first[3];
  float weights[3][MostControlTaps];
  float weight = 1.0f;
  if (!ComputeControlWeights(part, position, first, weights))
  {
    return 0.0f;
  }
  for (int axis = 0; axis < 3; ++axis)
  {
    const int tap = control[axis] - first[axis];
    const int taps = axis < part->dimension ? part->order + 1 : 1;
    weight = tap >= 0 && tap < taps ? weight * weights[axis][tap] : 0.0f;
  }
  return weight;
}

/** Adds the forces of a cell's samples, every stride-th from begin on, multiplied by a control point's weights. */
GPUREG_FUNCTION void
AddForcesOfCell(const ChainPart *           part,
                const VolumeShape *         shape,
                int                         isOfPoints,
                GPUREG_GLOBAL const i64 *   points,
                GPUREG_GLOBAL const u32 *   order,
                i64                         begin,
                i64                         end,
                int                         stride,
                const int *                 control,
                GPUREG_GLOBAL const float * forces,
                float *                     sum)
{
  for (i64 s = begin; s < end; s += stride)
  {
    const i64 sample = order[s];
    i64       position[3];
    ComputeSamplePosition(shape, isOfPoints, points, sample, position);
    const float weight = ComputeWeightOfControl(part, position, control);
    for (int r = 0; r < 3; ++r)
    {
      sum[r] = MultiplyAdd(weight, forces[3 * sample + r], sum[r]);
    }
  }
}

GPUREG_NAMESPACE_END

#endif
