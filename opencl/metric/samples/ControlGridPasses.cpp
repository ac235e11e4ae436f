// SPDX-License-Identifier: Apache-2.0
// Interpolation between control points at samples, and its adjoint, in OpenCL: launches. The entry points are in
// opencl/metric/samples/ControlGridKernels.cl, the formulas in src/kernels/metric/samples/ControlGrid.h; the plain version is
// src/host/metric/samples/ControlGridPasses.cpp.
#include "engine/metric/samples/ControlGridPasses.h"

#include "opencl/runtime/OpenCLKernels.h"

#include <string>

namespace gpureg
{

using namespace kernels;

namespace
{
class OpenCLControlGridPasses : public ControlGridPasses
{
public:
  explicit OpenCLControlGridPasses(OpenCLQueue & queue)
    : m_Queue(queue)
    , m_Kernels(queue, OpenCLControlGridSource)
  {}

  void
  MoveRows(const ControlGridArguments & a,
           const ControlTables &        tables,
           const Memory &               expanded,
           Memory &                     displacement) override
  {
    const int         rowsOfGroup = m_Queue.GetDevice().GetLanes() / ControlRowLanes;
    const i64         rows = i64{ a.virtualSize[1] } * a.virtualSize[2];
    const std::size_t rowBytes = sizeof(float) * 3 * static_cast<std::size_t>(rowsOfGroup);
    cl::Kernel &      kernel = m_Kernels.Get("MoveRows", GetOptions());
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel,
                         a,
                         BufferOf(*tables.weights),
                         BufferOf(*tables.rowWeights),
                         BufferOf(*tables.rowFirsts),
                         BufferOf(*tables.segmentColumns),
                         BufferOf(expanded),
                         cl::Local(rowBytes * MostSegmentColumns),
                         cl::Local(rowBytes * SegmentVoxels),
                         BufferOf(displacement));
      m_Queue.Launch(kernel, (rows + rowsOfGroup - 1) / rowsOfGroup * CountSegments(&a), 1);
    });
  }

  void
  ApplyAdjointAlong(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    // One lane for each bundle of lines that are processed together.
    const i64 lanes = m_Queue.GetDevice().GetLanes();
    const i64 bundles = (a.inner + lanes * AdjointLines - 1) / (lanes * AdjointLines);
    m_Kernels.Launch("ApplyAdjointAlong",
                     GetOptions(),
                     i64{ a.outer } * a.tileCount * bundles * lanes,
                     a,
                     BufferOf(*tables.weights),
                     BufferOf(*tables.tiles),
                     BufferOf(in),
                     BufferOf(out));
  }

  void
  ApplyAdjointAlongX(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    m_Kernels.Launch("ApplyAdjointAlongX",
                     GetOptions(),
                     i64{ a.outer } * a.controls,
                     a,
                     BufferOf(*tables.weights),
                     BufferOf(*tables.tiles),
                     BufferOf(in),
                     BufferOf(out));
  }

  void
  ApplyAdjointAtSamples(const ChainPart &    part,
                        const VolumeShape &  shape,
                        const SortedByCell & sorted,
                        const Memory *       samplePoints,
                        const Memory &       forces,
                        Memory &             out) override
  {
    const auto   lanes = static_cast<std::size_t>(m_Queue.GetDevice().GetLanes());
    cl::Kernel & kernel = m_Kernels.Get("ApplyAdjointAtSamples", GetOptions());
    CheckOpenCL(m_Queue.GetDeviceName(), [&] {
      SetKernelArguments(kernel,
                         part,
                         shape,
                         sorted.cells,
                         BufferOf(samplePoints ? *samplePoints : forces),
                         BufferOf(*sorted.order),
                         BufferOf(*sorted.begins),
                         BufferOf(forces),
                         cl::Local(lanes * sizeof(float)),
                         BufferOf(out));
      m_Queue.Launch(kernel, CountControlPoints(part), 1);
    });
  }

private:
  static std::string
  GetOptions()
  {
    return GetRealOption(Precision::Single);
  }

  OpenCLQueue & m_Queue;
  OpenCLKernels m_Kernels;
};
} // namespace

template <>
std::unique_ptr<ControlGridPasses>
MakePassesOn<DeviceKind::OpenCL, ControlGridPasses>(Queue & queue)
{
  return std::make_unique<OpenCLControlGridPasses>(static_cast<OpenCLQueue &>(queue));
}

} // namespace gpureg
