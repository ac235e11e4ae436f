// SPDX-License-Identifier: Apache-2.0
// These numbers were measured for group kernels in CUDA. A kernel itself declares the lanes of its groups.
#ifndef gpureg_CudaTuning_h
#define gpureg_CudaTuning_h

#include "cuda/metric/samples/CudaSamples.h"
#include "cuda/runtime/CudaGroupEntry.h"

#include "engine/metric/pairs/PairPasses.h"
#include "engine/resample/ResamplePasses.h"

namespace gpureg
{

namespace kernels
{
struct ApplyAdjointAlongGroupKernel;
struct ApplyAdjointAlongXGroupKernel;
struct BatchPairGroupKernel;
struct RecurseLinesKernel;
struct RecurseTileKernel;
struct ResampleRowsGroupKernel;
struct ResampleTileGroupKernel;
struct SumPairsGroupKernel;
} // namespace kernels

// The adjoint interpolation has small groups, as many at once as registers allow: 32 where a multiprocessor runs so many. Lanes then have
// 64 registers along an axis; with line numbers of 64 bits, they would need 68.
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr int AdjointGroups = 32;
#else
constexpr int AdjointGroups = 16;
#endif
template <typename TReal, typename TConstants>
constexpr int leastCudaGroups<kernels::ApplyAdjointAlongGroupKernel, TReal, TConstants> = AdjointGroups;
template <typename TReal, typename TConstants>
constexpr int leastCudaGroups<kernels::ApplyAdjointAlongXGroupKernel, TReal, TConstants> = AdjointGroups;
template <>
inline constexpr bool knowsCudaLanes<kernels::ApplyAdjointAlongGroupKernel> = true;
template <>
inline constexpr bool knowsCudaLanes<kernels::ApplyAdjointAlongXGroupKernel> = true;

// With four groups on a multiprocessor, 128 multiprocessors filter all lines of a volume of 256 voxels a side at once.
template <typename TReal, typename TConstants>
constexpr int leastCudaGroups<kernels::RecurseLinesKernel, TReal, TConstants> = 4;
template <typename TReal, typename TConstants>
constexpr int leastCudaGroups<kernels::RecurseTileKernel, TReal, TConstants> = 4;

/** Returns the number of a resampler's groups on a multiprocessor: the number that hides the loads best, as measured. Chains of parts spill
 *  some 60 bytes; with more groups, which spill twice as much, a B-spline takes 1.12 times as long, and a field 0.95 times. */
constexpr int
CountResampleGroups(int interpolation, int chain, bool isScalar, std::size_t realSize)
{
  const bool readsFew = interpolation == kernels::ResampleNearest || interpolation == kernels::ResampleLinear;
  if (chain == kernels::ChainIsAffine && isScalar && realSize == sizeof(float))
  {
    return readsFew ? 8 : 4;
  }
  return readsFew && chain != kernels::ChainHasParts ? 4 : 3;
}
template <typename TReal, int interpolation, int chain, int isScalar>
constexpr int leastCudaGroups<kernels::ResampleTileGroupKernel, TReal, CudaConstants<interpolation, chain, isScalar>> =
  CountResampleGroups(interpolation, chain, isScalar == 1, sizeof(TReal));
template <typename TReal, int interpolation, int isScalar>
constexpr int leastCudaGroups<kernels::ResampleRowsGroupKernel, TReal, CudaConstants<interpolation, isScalar>> =
  CountResampleGroups(interpolation, kernels::ChainFollowsRows, isScalar == 1, sizeof(TReal));

/** Returns the number of groups of pairs on a multiprocessor: as in CudaSamples.h, but one group for forces in fixed point, whose three
 *  sums and their rounding errors need more registers. */
constexpr int
CountPairGroups(int variant, int task)
{
  if (!(task & kernels::PairsComputeForces))
  {
    return IsChained(variant) ? ChainedValueBlocks : IsFixedPoint(variant) ? FixedPointBlocks : ValueBlocks;
  }
  return IsChained(variant) ? ChainedForceBlocks : IsFixedPoint(variant) ? 1 : ForceBlocks;
}
template <typename TReal, int variant, int task>
constexpr int leastCudaGroups<kernels::SumPairsGroupKernel, TReal, CudaConstants<variant, task>> =
  CountPairGroups(variant, task);
template <typename TReal, int variant, int task>
constexpr int leastCudaGroups<kernels::BatchPairGroupKernel, TReal, CudaConstants<variant, task>> =
  CountPairGroups(variant, task);

} // namespace gpureg

#endif
