// SPDX-License-Identifier: Apache-2.0
// Makes in OpenCL C the arrays of a moving image that metrics read: the entry points. The formulas are in
// src/kernels/metric/samples/MovingVoxels.h; opencl/metric/samples/MovingImagePasses.cpp launches them.

GPUREG_KERNEL void
MakeQuads(const VolumeShape shape, __global const float * values, __global float4 * quads, const i64 count)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    quads[voxel] = FindQuad(values, &shape, voxel);
  }
}

GPUREG_KERNEL void
MakeBinCells(const VolumeShape shape, __global const u8 * bins, __global u64 * cells, const i64 count)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    cells[voxel] = FindBinCell(bins, &shape, voxel);
  }
}

GPUREG_KERNEL void
ReplaceValues(__global const float * values,
              const int              hasValues,
              const float            gradientFactor,
              __global float4 *      packed,
              const i64              count)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    packed[voxel] = ReplaceValue(packed[voxel], gradientFactor, hasValues ? values[voxel] : 0.0f);
  }
}

GPUREG_KERNEL void
AddDerivatives(const float4 column, __global const float * derivative, __global float4 * packed, const i64 count)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    const float components[3] = { column.x, column.y, column.z };
    packed[voxel] = AddDerivative(packed[voxel], derivative[voxel], components);
  }
}

GPUREG_KERNEL void
ScaleGradients(const float factor, __global float * gradients, const i64 count)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    ScaleGradient(gradients + 3 * voxel, factor);
  }
}

GPUREG_KERNEL void
AddToGradients(const float4 column, __global const float * derivative, __global float * gradients, const i64 count)
{
  const i64 voxel = FindItem();
  if (voxel < count)
  {
    const float components[3] = { column.x, column.y, column.z };
    AddToGradient(gradients + 3 * voxel, derivative[voxel], components);
  }
}
