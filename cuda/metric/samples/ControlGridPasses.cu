// SPDX-License-Identifier: Apache-2.0
// Interpolation between control points at samples, and its adjoint, in CUDA: entry points and launches. The formulas are in
// src/kernels/metric/samples/ControlGrid.h; src/kernels/metric/samples/ControlGridKernels.h has the work of a group; the plain version is
// src/host/metric/samples/ControlGridPasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/metric/samples/ControlGridPasses.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/samples/ControlGridKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int Lanes = 256;
constexpr int Rows = Lanes / ControlRowLanes;
// Lanes of a group along adjacent lines: small groups, as many at once as registers allow.
constexpr int AdjointLanes = 32;
// The fewest groups that must fit on a multiprocessor. If 32 do, lanes have 64 registers; with line numbers of 64 bits, they would need 68.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr int AdjointGroups = 32;
#else
constexpr int AdjointGroups = 16;
#endif
// Control points of a row, side by side.
constexpr int RowLanes = 64;
// Lanes of a group for one control point, which may have few samples.
constexpr int SampleLanes = 128;

__global__ void
__launch_bounds__(Lanes) MoveRowsKernel(const __grid_constant__ ControlGridArguments a,
                                        const ControlWeights *                       weights,
                                        const float4 *                               rowWeights,
                                        const int *                                  rowFirsts,
                                        const int *                                  segmentColumns,
                                        const float4 *                               expanded,
                                        float *                                      displacement)
{
  __shared__ float columns[3 * MostSegmentColumns * Rows];
  __shared__ float moved[3 * SegmentVoxels * Rows];
  MoveRowsGroup(&a, weights, rowWeights, rowFirsts, segmentColumns, expanded, columns, moved, displacement);
}

/** blockIdx.x: adjacent lines; blockIdx.y: the tile of control points; blockIdx.z: the slice along the outer axis. */
__global__ void
__launch_bounds__(AdjointLanes, AdjointGroups) ApplyAdjointAlongKernel(const __grid_constant__ AdjointArguments a,
                                                                       const ControlWeights *                   weights,
                                                                       const ControlTile *                      tiles,
                                                                       const float *                            in,
                                                                       float *                                  out)
{
  const i64         line = i64{ blockIdx.x } * AdjointLanes * AdjointLines + threadIdx.x;
  const ControlTile tile = tiles[a.firstTile + static_cast<int>(blockIdx.y)];
  const i64         outer = blockIdx.z;
  if (line < a.inner)
  {
    ApplyAdjointAlongLines(&a,
                           weights,
                           &tile,
                           static_cast<int>(
                             min(i64{ AdjointLines }, (a.inner - line + AdjointLanes - 1) / AdjointLanes)),
                           AdjointLanes,
                           in + outer * a.length * a.inner + line,
                           out + outer * a.controls * a.inner + line);
  }
}

/** One lane for each control point. blockIdx.x is the row, since there may be more rows than a grid has blocks along y. */
__global__ void
__launch_bounds__(RowLanes) ApplyAdjointAlongXKernel(const __grid_constant__ AdjointArguments a,
                                                     const ControlWeights *                   weights,
                                                     const ControlTile *                      tiles,
                                                     const float *                            in,
                                                     float4 *                                 out)
{
  const int control = static_cast<int>(blockIdx.y) * RowLanes + static_cast<int>(threadIdx.x);
  const i64 outer = blockIdx.x;
  if (control < a.controls)
  {
    const ControlTile tile = tiles[a.firstTile + control];
    ApplyAdjointAlongRow(&a, weights, &tile, control, in + outer * a.length * 3, out + outer * a.controls);
  }
}

__global__ void
__launch_bounds__(SampleLanes) ApplyAdjointAtSamplesKernel(const __grid_constant__ ChainPart   part,
                                                           const __grid_constant__ VolumeShape shape,
                                                           const __grid_constant__ SampleCells cells,
                                                           const i64 *                         samplePoints,
                                                           const u32 *                         order,
                                                           const u32 *                         begins,
                                                           const float *                       forces,
                                                           float4 *                            out)
{
  __shared__ float scratch[SampleLanes];
  ApplyAdjointAtSamplesGroup(&part, &shape, &cells, samplePoints, order, begins, forces, scratch, out);
}

class CudaControlGridPasses : public ControlGridPasses
{
public:
  explicit CudaControlGridPasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  MoveRows(const ControlGridArguments & a,
           const ControlTables &        tables,
           const Memory &               expanded,
           Memory &                     displacement) override
  {
    const i64 rows = i64{ a.virtualSize[1] } * a.virtualSize[2];
    m_Queue.Launch("moving voxels by control points",
                   MoveRowsKernel,
                   dim3(static_cast<unsigned int>((rows + Rows - 1) / Rows * CountSegments(&a))),
                   Lanes,
                   0,
                   a,
                   AddressOf<const ControlWeights>(tables.weights),
                   AddressOf<const float4>(tables.rowWeights),
                   AddressOf<const int>(tables.rowFirsts),
                   AddressOf<const int>(tables.segmentColumns),
                   AddressIn<const float4>(expanded),
                   AddressIn<float>(displacement));
  }

  void
  ApplyAdjointAlong(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    m_Queue.Launch("summing forces along an axis",
                   ApplyAdjointAlongKernel,
                   dim3(static_cast<unsigned int>((a.inner + AdjointLines * AdjointLanes - 1) /
                                                  (AdjointLines * AdjointLanes)),
                        static_cast<unsigned int>(a.tileCount),
                        static_cast<unsigned int>(a.outer)),
                   AdjointLanes,
                   0,
                   a,
                   AddressOf<const ControlWeights>(tables.weights),
                   AddressOf<const ControlTile>(tables.tiles),
                   AddressIn<const float>(in),
                   AddressIn<float>(out));
  }

  void
  ApplyAdjointAlongX(const AdjointArguments & a, const ControlTables & tables, const Memory & in, Memory & out) override
  {
    m_Queue.Launch("summing forces along rows",
                   ApplyAdjointAlongXKernel,
                   dim3(static_cast<unsigned int>(a.outer),
                        static_cast<unsigned int>((a.controls + RowLanes - 1) / RowLanes)),
                   RowLanes,
                   0,
                   a,
                   AddressOf<const ControlWeights>(tables.weights),
                   AddressOf<const ControlTile>(tables.tiles),
                   AddressIn<const float>(in),
                   AddressIn<float4>(out));
  }

  void
  ApplyAdjointAtSamples(const ChainPart &    part,
                        const VolumeShape &  shape,
                        const SortedByCell & sorted,
                        const Memory *       samplePoints,
                        const Memory &       forces,
                        Memory &             out) override
  {
    m_Queue.Launch("summing samples' forces",
                   ApplyAdjointAtSamplesKernel,
                   dim3(static_cast<unsigned int>(CountControlPoints(part))),
                   SampleLanes,
                   0,
                   part,
                   shape,
                   sorted.cells,
                   samplePoints ? AddressIn<const i64>(*samplePoints) : nullptr,
                   AddressOf<const u32>(sorted.order),
                   AddressOf<const u32>(sorted.begins),
                   AddressIn<const float>(forces),
                   AddressIn<float4>(out));
  }

private:
  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ControlGridPasses>
MakePassesOn<DeviceKind::Cuda, ControlGridPasses>(Queue & queue)
{
  return std::make_unique<CudaControlGridPasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
