// SPDX-License-Identifier: Apache-2.0
// Makes in OpenCL the arrays of a moving image that metrics read: launches. The entry points are in
// opencl/metric/samples/MovingImageKernels.cl, the formulas in src/kernels/metric/samples/MovingVoxels.h; the plain version is
// src/host/metric/samples/MovingImagePasses.cpp.
#include "engine/metric/samples/MovingImagePasses.h"

#include "opencl/runtime/OpenCLKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLMovingImagePasses : public MovingImagePasses
{
public:
  explicit OpenCLMovingImagePasses(OpenCLQueue & queue)
    : m_Kernels(queue, OpenCLMovingImageSource)
  {}

  void
  MakeQuads(const VolumeShape & shape, const Memory & values, Memory & quads) override
  {
    const cl_long count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    m_Kernels.Launch(
      "MakeQuads", GetRealOption(Precision::Single), count, shape, BufferOf(values), BufferOf(quads), count);
  }

  void
  MakeBinCells(const VolumeShape & shape, const Memory & bins, Memory & cells) override
  {
    const cl_long count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    m_Kernels.Launch(
      "MakeBinCells", GetRealOption(Precision::Single), count, shape, BufferOf(bins), BufferOf(cells), count);
  }

  void
  ReplaceValues(std::int64_t count, const Memory * values, float gradientFactor, Memory & packed) override
  {
    m_Kernels.Launch("ReplaceValues",
                     GetRealOption(Precision::Single),
                     count,
                     BufferOf(values ? *values : packed),
                     cl_int{ values != nullptr },
                     gradientFactor,
                     BufferOf(packed),
                     cl_long{ count });
  }

  void
  AddDerivatives(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     packed) override
  {
    const cl_float4 components{ { column[0], column[1], column[2], 0.0f } };
    m_Kernels.Launch("AddDerivatives",
                     GetRealOption(Precision::Single),
                     count,
                     components,
                     BufferOf(derivative),
                     BufferOf(packed),
                     cl_long{ count });
  }

  void
  ScaleGradients(std::int64_t count, float factor, Memory & gradients) override
  {
    m_Kernels.Launch(
      "ScaleGradients", GetRealOption(Precision::Single), count, factor, BufferOf(gradients), cl_long{ count });
  }

  void
  AddToGradients(std::int64_t                 count,
                 const std::array<float, 3> & column,
                 const Memory &               derivative,
                 Memory &                     gradients) override
  {
    const cl_float4 components{ { column[0], column[1], column[2], 0.0f } };
    m_Kernels.Launch("AddToGradients",
                     GetRealOption(Precision::Single),
                     count,
                     components,
                     BufferOf(derivative),
                     BufferOf(gradients),
                     cl_long{ count });
  }

private:
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<MovingImagePasses>
MakePassesOn<DeviceKind::OpenCL, MovingImagePasses>(Queue & queue)
{
  return std::make_unique<OpenCLMovingImagePasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
