// SPDX-License-Identifier: Apache-2.0
// The resampler in CUDA: entry points and launches. src/kernels/resample/ResampleKernels.h has the work of a group; the plain version is
// src/host/resample/ResamplePasses.cpp.
#include "cuda/runtime/CudaQueue.h"

#include "engine/resample/ResamplePasses.h"

#include "kernels/resample/ResampleKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// Where the chain follows rows, each row of a group is a warp.
constexpr int Lanes = 256;
constexpr int Rows = Lanes / ResampleRowLanes;

/** Returns the number of groups on a multiprocessor, which limits the registers of a lane: the number that hides the loads best, as
 *  measured. Chains of parts spill some 60 bytes; with more groups, which spill twice as much, a B-spline takes 1.12 times as long, and
 *  a field 0.95 times. */
constexpr int
CountBlocks(int interpolation, int chain, bool isScalar, std::size_t realSize)
{
  const bool readsFew = interpolation == ResampleNearest || interpolation == ResampleLinear;
  if (chain == ChainIsAffine && isScalar && realSize == sizeof(float))
  {
    return readsFew ? 8 : 4;
  }
  return readsFew && chain != ChainHasParts ? 4 : 3;
}

/** Marks kernels that look the interpolation's order up at run time; the others are compiled for one interpolation each. */
constexpr int AnyInterpolation = -1;

template <int VInterpolation, int VChain, bool VIsScalar, typename real>
__global__ void
__launch_bounds__(Lanes, CountBlocks(VInterpolation, VChain, VIsScalar, sizeof(real)))
  ResampleKernel(const __grid_constant__ ResampleArguments a,
                 const ChainPart *                         parts,
                 const float4 *                            vectors,
                 const real *                              input,
                 const real *                              outside,
                 real *                                    output)
{
  __shared__ real columns[VChain == ChainFollowsRows ? 3 * MaximumRowColumns * Rows : 1];
  ResampleGroup(VInterpolation == AnyInterpolation ? a.interpolation : VInterpolation,
                VChain,
                VIsScalar ? 1 : a.components,
                &a,
                parts,
                vectors,
                input,
                outside,
                columns,
                output);
}

class CudaResamplePasses : public ResamplePasses
{
public:
  explicit CudaResamplePasses(CudaQueue & queue)
    : m_Queue(queue)
  {}

  void
  Resample(const ResampleArguments & arguments,
           Precision                 precision,
           const ResampleArrays &    arrays,
           Memory &                  output) override
  {
    ResampleArguments a = arguments;
    CutIntoGroups(&a, Lanes);
    WithReal(precision, [&](auto zero) { ResampleAs<decltype(zero)>(a, arrays, output); });
  }

private:
  template <typename real>
  void
  ResampleAs(const ResampleArguments & a, const ResampleArrays & arrays, Memory & output)
  {
    const dim3 groups(static_cast<unsigned int>(CountGroups(&a)), static_cast<unsigned int>(CountPlaneGroups(&a)));
    m_Queue.Launch("resampling",
                   ChooseKernel<real>(a),
                   groups,
                   Lanes,
                   0,
                   a,
                   AddressOf<ChainPart>(arrays.parts),
                   AddressOf<float4>(arrays.vectors),
                   AddressIn<real>(arrays.input),
                   AddressOf<real>(arrays.outside),
                   static_cast<real *>(static_cast<CudaMemory &>(output).GetAddress()));
  }

  template <typename real>
  static auto
  ChooseKernel(const ResampleArguments & a)
  {
    switch (a.chain)
    {
      case ChainIsAffine:
        return ChooseKernel<ChainIsAffine, real>(a);
      case ChainHasParts:
        return ChooseKernel<ChainHasParts, real>(a);
      default:
        return ChooseKernel<ChainFollowsRows, real>(a);
    }
  }

  template <int VChain, typename real>
  static auto
  ChooseKernel(const ResampleArguments & a)
  {
    switch (a.interpolation)
    {
      case ResampleNearest:
        return ChooseKernel<ResampleNearest, VChain, real>(a);
      case ResampleLinear:
        return ChooseKernel<ResampleLinear, VChain, real>(a);
      case ResampleBSpline3:
        return ResampleKernel<ResampleBSpline3, VChain, true, real>;
      default:
        return ResampleKernel<AnyInterpolation, VChain, true, real>;
    }
  }

  template <int VInterpolation, int VChain, typename real>
  static auto
  ChooseKernel(const ResampleArguments & a)
  {
    return a.components == 1 ? ResampleKernel<VInterpolation, VChain, true, real>
                             : ResampleKernel<VInterpolation, VChain, false, real>;
  }

  CudaQueue & m_Queue;
};
} // namespace

template <>
std::unique_ptr<ResamplePasses>
MakePassesOn<DeviceKind::Cuda, ResamplePasses>(Queue & queue)
{
  return std::make_unique<CudaResamplePasses>(static_cast<CudaQueue &>(queue));
}

} // namespace gpureg
