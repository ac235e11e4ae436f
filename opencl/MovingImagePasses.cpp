// SPDX-License-Identifier: Apache-2.0
// What metrics read of a moving image, made in OpenCL: launches. The entry points are in opencl/MovingImageKernels.cl, the
// formulas in src/kernels/MovingVoxels.h; the plain version is src/host/MovingImagePasses.cpp.
#include "MovingImagePasses.h"

#include "OpenCLError.h"
#include "OpenCLProgram.h"
#include "OpenCLQueue.h"

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLMovingImagePasses : public MovingImagePasses
{
public:
  explicit OpenCLMovingImagePasses(OpenCLQueue & queue)
    : m_Queue(queue)
  {}

  void
  MakeQuads(const VolumeShape & shape, const Memory & values, Memory & quads) override
  {
    const cl_long count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    Launch(m_MakeQuads, "MakeQuads", count, shape, BufferOf(values), BufferOf(quads), count);
  }

  void
  MakeBinCells(const VolumeShape & shape, const Memory & bins, Memory & cells) override
  {
    const cl_long count = VoxelOffset(&shape, 0, 0, shape.size[2]);
    Launch(m_MakeBinCells, "MakeBinCells", count, shape, BufferOf(bins), BufferOf(cells), count);
  }

  void
  ReplaceValues(std::int64_t count, const Memory * values, float gradientFactor, Memory & packed) override
  {
    Launch(m_ReplaceValues,
           "ReplaceValues",
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
    Launch(
      m_AddDerivatives, "AddDerivatives", count, components, BufferOf(derivative), BufferOf(packed), cl_long{ count });
  }

private:
  /** The kernel is compiled or loaded at the first call. */
  template <typename... TArguments>
  void
  Launch(cl::Kernel & kernel, const char * name, std::int64_t voxels, const TArguments &... arguments)
  {
    OpenCLDevice & device = m_Queue.GetDevice();
    if (!kernel())
    {
      const cl::Program program = device.GetProgram(OpenCLMovingImageSource, "-DGPUREG_REAL=float");
      kernel = CheckOpenCL(m_Queue.GetDeviceName(), [&] { return cl::Kernel(program, name); });
    }
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel, arguments...);
      m_Queue.Launch(kernel, (voxels + device.GetLanes() - 1) / device.GetLanes(), 1);
    });
  }

  OpenCLQueue & m_Queue;
  // One object's own, since setting an argument of a kernel is not thread-safe.
  cl::Kernel m_MakeQuads;
  cl::Kernel m_MakeBinCells;
  cl::Kernel m_ReplaceValues;
  cl::Kernel m_AddDerivatives;
};
} // namespace

std::unique_ptr<MovingImagePasses>
OpenCLQueue::CreateMovingImagePasses()
{
  return std::make_unique<OpenCLMovingImagePasses>(*this);
}

} // namespace gpureg
