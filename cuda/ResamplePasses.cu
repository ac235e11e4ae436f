// SPDX-License-Identifier: Apache-2.0
// The resampler in CUDA: entry points and launches. What a voxel is made of is in src/kernels/Resample.h; the
// plain version is src/host/ResamplePasses.cpp.
#include "CudaQueue.h"

#include "ResamplePasses.h"

#include <utility>

namespace gpureg
{

using namespace kernels;

namespace
{
// A tile of the output, whose lanes share most of what they read: a warp a row.
constexpr int TileRows = 8;
constexpr int TileColumns = 32;

/** Ways of interpolating that are compiled on their own; any other looks its order up at run time. */
constexpr int AnyInterpolation = -1;

struct ResampleRows
{
  i64 first;
  int count;
};

template <int VInterpolation, bool VHasParts, typename real>
__global__ void
__launch_bounds__(TileRows * TileColumns) ResampleKernel(const __grid_constant__ ResampleArguments a,
                                                         const ResampleRows                        rows,
                                                         const ChainPart *                         parts,
                                                         const float4 *                            vectors,
                                                         const real *                              input,
                                                         const real *                              outside,
                                                         real *                                    output)
{
  const int x = static_cast<int>(blockIdx.y * TileColumns + threadIdx.x % TileColumns);
  const int row = static_cast<int>(blockIdx.x * TileRows + threadIdx.x / TileColumns);
  if (x >= a.outputSize[0] || row >= rows.count)
  {
    return;
  }
  const i64 absolute = rows.first + row;
  const int z = static_cast<int>(absolute / a.outputSize[1]);
  const int y = static_cast<int>(absolute - i64{ z } * a.outputSize[1]);
  real *    voxel = output + (i64{ row } * a.outputSize[0] + x) * a.components;
  const int interpolation = VInterpolation == AnyInterpolation ? a.interpolation : VInterpolation;
  ResampleVoxel(interpolation, VHasParts, &a, parts, vectors, input, outside, x, y, z, voxel);
}

class CudaResamplePasses : public ResamplePasses
{
public:
  explicit CudaResamplePasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Resample(const ResampleArguments & a,
           Precision                 precision,
           const ResampleArrays &    arrays,
           Memory &                  output,
           i64                       firstRow,
           int                       rowCount) override
  {
    const ResampleRows rows{ firstRow, rowCount };
    if (precision == Precision::Single)
    {
      ResampleAs<float>(a, arrays, output, rows);
    }
    else
    {
      ResampleAs<double>(a, arrays, output, rows);
    }
  }

private:
  template <typename real>
  void
  ResampleAs(const ResampleArguments & a, const ResampleArrays & arrays, Memory & output, const ResampleRows & rows)
  {
    const dim3 tiles(static_cast<unsigned int>((rows.count + TileRows - 1) / TileRows),
                     static_cast<unsigned int>((a.outputSize[0] + TileColumns - 1) / TileColumns));
    m_Queue.Launch("resampling",
                   a.partCount > 0 ? ChooseKernel<true, real>(a.interpolation)
                                   : ChooseKernel<false, real>(a.interpolation),
                   tiles,
                   TileRows * TileColumns,
                   0,
                   a,
                   rows,
                   AddressOf<ChainPart>(arrays.parts),
                   AddressOf<float4>(arrays.vectors),
                   AddressOf<real>(arrays.input),
                   AddressOf<real>(arrays.outside),
                   static_cast<real *>(static_cast<CudaMemory &>(output).GetAddress()));
  }

  template <bool VHasParts, typename real>
  static auto
  ChooseKernel(int interpolation)
  {
    switch (interpolation)
    {
      case ResampleNearest:
        return ResampleKernel<ResampleNearest, VHasParts, real>;
      case ResampleLinear:
        return ResampleKernel<ResampleLinear, VHasParts, real>;
      case ResampleBSpline + 3:
        return ResampleKernel<ResampleBSpline + 3, VHasParts, real>;
      default:
        return ResampleKernel<AnyInterpolation, VHasParts, real>;
    }
  }

  CudaQueue & m_Queue;
};
} // namespace

std::unique_ptr<ResamplePasses>
CudaQueue::CreateResamplePasses()
{
  return std::make_unique<CudaResamplePasses>(*this);
}

} // namespace gpureg
