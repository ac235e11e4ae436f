// SPDX-License-Identifier: Apache-2.0
// Interpolation between control points at samples, and its adjoint, in OpenCL C: the entry points. The formulas are in
// src/kernels/metric/samples/ControlGrid.h; src/kernels/metric/samples/ControlGridKernels.h has the work of a group;
// opencl/metric/samples/ControlGridPasses.cpp launches them.

GPUREG_KERNEL void
MoveRows(const ControlGridArguments      a,
         __global const ControlWeights * weights,
         __global const float4 *         rowWeights,
         __global const int *            rowFirsts,
         __global const int *            segmentColumns,
         __global const float4 *         expanded,
         __local float *                 columns,
         __local float *                 moved,
         __global float *                displacement)
{
  MoveRowsGroup(&a, weights, rowWeights, rowFirsts, segmentColumns, expanded, columns, moved, displacement);
}

GPUREG_KERNEL void
ApplyAdjointAlong(const AdjointArguments          a,
                  __global const ControlWeights * weights,
                  __global const ControlTile *    tiles,
                  __global const float *          in,
                  __global float *                out)
{
  const int         bundle = GPUREG_LANES * AdjointLines;
  const i64         bundles = (a.inner + bundle - 1) / bundle;
  const i64         group = GroupIndex() / bundles;
  const i64         outer = group / a.tileCount;
  const ControlTile tile = tiles[a.firstTile + (int)(group % a.tileCount)];
  const i64         line = GroupIndex() % bundles * bundle + LaneIndex();
  const i64         lines = (a.inner - line + GPUREG_LANES - 1) / GPUREG_LANES;
  if (lines > 0)
  {
    ApplyAdjointAlongLines(&a,
                           weights,
                           &tile,
                           lines < AdjointLines ? (int)lines : AdjointLines,
                           GPUREG_LANES,
                           in + outer * a.length * a.inner + line,
                           out + outer * a.controls * a.inner + line);
  }
}

GPUREG_KERNEL void
ApplyAdjointAlongX(const AdjointArguments          a,
                   __global const ControlWeights * weights,
                   __global const ControlTile *    tiles,
                   __global const float *          in,
                   __global float4 *               out)
{
  const i64         item = FindItem();
  const i64         outer = item / a.controls;
  const int         control = (int)(item % a.controls);
  const ControlTile tile = tiles[a.firstTile + control];
  if (outer < a.outer)
  {
    ApplyAdjointAlongRow(&a, weights, &tile, control, in + outer * a.length * 3, out + outer * a.controls);
  }
}

GPUREG_KERNEL void
ApplyAdjointAtSamples(const ChainPart        part,
                      const VolumeShape      shape,
                      const SampleCells      cells,
                      __global const i64 *   samplePoints,
                      __global const u32 *   order,
                      __global const u32 *   begins,
                      __global const float * forces,
                      __local float *        scratch,
                      __global float4 *      out)
{
  ApplyAdjointAtSamplesGroup(&part, &shape, &cells, samplePoints, order, begins, forces, scratch, out);
}
