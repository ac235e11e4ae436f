// SPDX-License-Identifier: Apache-2.0
// Filters along lines in CUDA: entry points and launches. src/kernels/filter/LineKernels.h and LineConvolution.h have the work of a
// work-item; the plain version is src/host/filter/LinePasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/filter/LinePasses.h"

#include "kernels/filter/LineKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
constexpr int RecursionLanes = 128;
// The fewest groups that must fit on a multiprocessor: with them, 128 multiprocessors filter all lines of a volume of 256 voxels a side at
// once.
constexpr int RecursionGroups = 4;
constexpr int ConvolutionLanes = 256;

// Lines that are at most this many elements apart are read through local memory: otherwise less than half of a 32-byte sector that is read
// would be used.
constexpr i64 NearLines = 8;

template <int VKind, typename real>
__global__ void
__launch_bounds__(RecursionLanes, RecursionGroups)
  RecurseLinesKernel(const __grid_constant__ RecursionArguments a, real * volume, double * states)
{
  const i64 item = i64{ blockIdx.x } * RecursionLanes + threadIdx.x;
  if (item < a.lineCount)
  {
    RecurseLine(VKind, &a, item, volume, states);
  }
}

template <int VKind, typename real>
__global__ void
__launch_bounds__(RecursionLanes, RecursionGroups)
  RecurseTilesKernel(const __grid_constant__ RecursionArguments a, real * volume, double * states)
{
  __shared__ real tile[RecursionLanes * RecursionTileWidth];
  RecurseTile(VKind, &a, volume, states, tile);
}

template <typename real>
__global__ void
__launch_bounds__(ConvolutionLanes)
  ConvolveKernel(const __grid_constant__ ConvolutionArguments a, const real * input, real * output)
{
  const i64 element = i64{ blockIdx.x } * ConvolutionLanes + threadIdx.x;
  if (element < a.inner * a.outputLength * a.outer)
  {
    ConvolveElement(&a, input, output, element);
  }
}

template <typename real>
__global__ void
__launch_bounds__(ConvolutionLanes) InterpolateKernel(const __grid_constant__ GridInterpolationArguments a,
                                                      const GridPlace *                                  places,
                                                      const real *                                       input,
                                                      real *                                             output,
                                                      i64                                                count)
{
  const i64 element = i64{ blockIdx.x } * ConvolutionLanes + threadIdx.x;
  if (element < count)
  {
    InterpolateElement(&a, places, input, output, element);
  }
}

class CudaLinePasses : public LinePasses
{
public:
  explicit CudaLinePasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  std::size_t
  GetStateBytes(int kind, int length, std::int64_t lines) const override
  {
    return sizeof(double) * static_cast<std::size_t>(CountKeptStates(kind)) *
           static_cast<std::size_t>(CountBlocks(length)) * static_cast<std::size_t>(lines);
  }

  void
  Recurse(int kind, const RecursionArguments & a, Precision precision, Memory & volume, Memory * states) override
  {
    WithReal(precision, [&](auto zero) { RecurseAs<decltype(zero)>(kind, a, volume, *states); });
  }

  void
  Convolve(const ConvolutionArguments & a, Precision precision, const Memory & input, Memory & output) override
  {
    WithReal(precision, [&](auto zero) { ConvolveAs<decltype(zero)>(a, input, output); });
  }

  void
  Interpolate(const GridInterpolationArguments & a,
              Precision                          precision,
              const Memory &                     places,
              const Memory &                     input,
              Memory &                           output) override
  {
    WithReal(precision, [&](auto zero) { InterpolateAs<decltype(zero)>(a, places, input, output); });
  }

private:
  template <typename real>
  void
  RecurseAs(int kind, const RecursionArguments & a, Memory & volume, Memory & states)
  {
    m_Queue.Launch("recursive filtering",
                   kind == RecursionOfGaussian ? ChooseKernel<RecursionOfGaussian, real>(a.inner)
                                               : ChooseKernel<RecursionOfSpline, real>(a.inner),
                   CountGroups(a.lineCount, RecursionLanes),
                   RecursionLanes,
                   0,
                   a,
                   AddressIn<real>(volume),
                   AddressIn<double>(states));
  }

  template <int VKind, typename real>
  static auto
  ChooseKernel(i64 inner)
  {
    return inner < NearLines ? RecurseTilesKernel<VKind, real> : RecurseLinesKernel<VKind, real>;
  }

  template <typename real>
  void
  InterpolateAs(const GridInterpolationArguments & a, const Memory & places, const Memory & input, Memory & output)
  {
    const i64 count = CountElements(a);
    m_Queue.LaunchFor("interpolating",
                      InterpolateKernel<real>,
                      count,
                      ConvolutionLanes,
                      a,
                      AddressIn<const GridPlace>(places),
                      AddressIn<const real>(input),
                      AddressIn<real>(output),
                      count);
  }

  template <typename real>
  void
  ConvolveAs(const ConvolutionArguments & a, const Memory & input, Memory & output)
  {
    m_Queue.LaunchFor("convolving",
                      ConvolveKernel<real>,
                      a.inner * a.outputLength * a.outer,
                      ConvolutionLanes,
                      a,
                      AddressIn<const real>(input),
                      AddressIn<real>(output));
  }

  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<LinePasses>
MakePassesOn<DeviceKind::Cuda, LinePasses>(Queue & queue)
{
  return std::make_unique<CudaLinePasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
