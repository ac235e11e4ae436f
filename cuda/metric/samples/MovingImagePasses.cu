// SPDX-License-Identifier: Apache-2.0
// Makes in CUDA the arrays of a moving image that metrics read: entry points and launches. The formulas are in
// src/kernels/metric/samples/MovingVoxels.h; the plain version is src/host/metric/samples/MovingImagePasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/metric/samples/MovingImagePasses.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int VoxelLanes = 256;

/** The work-item's voxel; as many as there are, or more. */
__device__ i64
FindVoxel()
{
  return i64{ blockIdx.x } * VoxelLanes + threadIdx.x;
}

__global__ void
__launch_bounds__(VoxelLanes)
  MakeQuadsKernel(const __grid_constant__ VolumeShape shape, const float * values, float4 * quads, i64 count)
{
  const i64 voxel = FindVoxel();
  if (voxel < count)
  {
    quads[voxel] = FindQuad(values, &shape, voxel);
  }
}

__global__ void
__launch_bounds__(VoxelLanes)
  MakeBinCellsKernel(const __grid_constant__ VolumeShape shape, const u8 * bins, u64 * cells, i64 count)
{
  const i64 voxel = FindVoxel();
  if (voxel < count)
  {
    cells[voxel] = FindBinCell(bins, &shape, voxel);
  }
}

__global__ void
__launch_bounds__(VoxelLanes)
  ReplaceValuesKernel(const float * values, float gradientFactor, float4 * packed, i64 count)
{
  const i64 voxel = FindVoxel();
  if (voxel < count)
  {
    packed[voxel] = ReplaceValue(packed[voxel], gradientFactor, values ? values[voxel] : 0.0f);
  }
}

__global__ void
__launch_bounds__(VoxelLanes)
  AddDerivativesKernel(const __grid_constant__ float3 column, const float * derivative, float4 * packed, i64 count)
{
  const i64 voxel = FindVoxel();
  if (voxel < count)
  {
    const float components[3] = { column.x, column.y, column.z };
    packed[voxel] = AddDerivative(packed[voxel], derivative[voxel], components);
  }
}

__global__ void
__launch_bounds__(VoxelLanes) ScaleGradientsKernel(float factor, float * gradients, i64 count)
{
  const i64 voxel = FindVoxel();
  if (voxel < count)
  {
    ScaleGradient(gradients + 3 * voxel, factor);
  }
}

__global__ void
__launch_bounds__(VoxelLanes)
  AddToGradientsKernel(const __grid_constant__ float3 column, const float * derivative, float * gradients, i64 count)
{
  const i64 voxel = FindVoxel();
  if (voxel < count)
  {
    const float components[3] = { column.x, column.y, column.z };
    AddToGradient(gradients + 3 * voxel, derivative[voxel], components);
  }
}

class CudaMovingImagePasses : public MovingImagePasses
{
public:
  explicit CudaMovingImagePasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  MakeQuads(const VolumeShape & shape, const Memory & values, Memory & quads) override
  {
    const i64 count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    m_Queue.LaunchFor("making quads",
                      MakeQuadsKernel,
                      count,
                      VoxelLanes,
                      shape,
                      AddressIn<const float>(values),
                      AddressIn<float4>(quads),
                      count);
  }

  void
  MakeBinCells(const VolumeShape & shape, const Memory & bins, Memory & cells) override
  {
    const i64 count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    m_Queue.LaunchFor("making cells of bins",
                      MakeBinCellsKernel,
                      count,
                      VoxelLanes,
                      shape,
                      AddressIn<const u8>(bins),
                      AddressIn<u64>(cells),
                      count);
  }

  void
  ReplaceValues(std::int64_t count, const Memory * values, float gradientFactor, Memory & packed) override
  {
    m_Queue.LaunchFor("packing values",
                      ReplaceValuesKernel,
                      count,
                      VoxelLanes,
                      values ? AddressIn<const float>(*values) : nullptr,
                      gradientFactor,
                      AddressIn<float4>(packed),
                      count);
  }

  void
  AddDerivatives(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     packed) override
  {
    m_Queue.LaunchFor("packing derivatives",
                      AddDerivativesKernel,
                      count,
                      VoxelLanes,
                      make_float3(column[0], column[1], column[2]),
                      AddressIn<const float>(derivative),
                      AddressIn<float4>(packed),
                      count);
  }

  void
  ScaleGradients(std::int64_t count, float factor, Memory & gradients) override
  {
    m_Queue.LaunchFor(
      "scaling gradients", ScaleGradientsKernel, count, VoxelLanes, factor, AddressIn<float>(gradients), count);
  }

  void
  AddToGradients(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     gradients) override
  {
    m_Queue.LaunchFor("adding derivatives",
                      AddToGradientsKernel,
                      count,
                      VoxelLanes,
                      make_float3(column[0], column[1], column[2]),
                      AddressIn<const float>(derivative),
                      AddressIn<float>(gradients),
                      count);
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<MovingImagePasses>
MakePassesOn<DeviceKind::Cuda, MovingImagePasses>(Queue & queue)
{
  return std::make_unique<CudaMovingImagePasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
