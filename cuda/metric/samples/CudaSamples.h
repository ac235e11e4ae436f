// SPDX-License-Identifier: Apache-2.0
// Loops of CUDA's kernels over a metric's samples. For inclusion by .cu files, each of which is compiled for its own metric.
#ifndef gpureg_CudaSamples_h
#define gpureg_CudaSamples_h

#include "cuda/runtime/CudaQueue.h"

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"
#include "kernels/metric/samples/SampleVariants.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// Measured on an H200 over 181×217×181 voxels: 4 blocks of 512 lanes on a multiprocessor for values, which wait for memory; 2 for forces,
// whose eight 16-byte loads need registers. TargetChunks is the number of value blocks that run at once.
constexpr int Lanes = 512;
constexpr int ValueBlocks = 4;
constexpr int ForceBlocks = 2;
constexpr int FixedPointBlocks = 2;
constexpr int SlopeBlocks = 3;
// Kernels of chains, which read parts and their Jacobians, need more registers: with 32 and 64 they spilled 1200 bytes a lane, and took
// three times as long.
constexpr int ChainedValueBlocks = 2;
constexpr int ChainedForceBlocks = 1;
constexpr int TargetChunks = 528;

/** True for the arguments of a metric that weighs the border, as their member says, and so has the two border variants. */
template <typename TArguments, typename = void>
constexpr bool HasBorderWeights = false;
template <typename TArguments>
constexpr bool HasBorderWeights<TArguments, std::void_t<decltype(TArguments::border)>> = true;

/** True for the arguments of a metric that has separate kernels for displacement fields. That metric's own file specialises it. */
template <typename TArguments>
constexpr bool HasFieldVariants = false;

template <int VVariant>
__device__ __forceinline__ int
VariantOf(const SampleArguments & a)
{
  return GetVariant(VVariant, &a);
}

constexpr bool
IsChained(int variant)
{
  return variant == ChainedVariant || variant == FixedPointChainedVariant;
}

constexpr bool
IsFixedPoint(int variant)
{
  return variant == PlainFixedPointVariant || variant == PlainPointsVariant || variant == FixedPointVariant ||
         variant == FixedPointChainedVariant;
}

/** Calls work with the compiled variant that serves a variant. */
template <typename TArguments, typename TWork>
void
WithVariant(int variant, const TWork & work)
{
  if constexpr (HasBorderWeights<TArguments>)
  {
    if (variant == PlainBorderVariant)
    {
      work(std::integral_constant<int, PlainBorderVariant>{});
      return;
    }
    if ((variant & WeighsBorder) && !(variant & SamplesAreFixedPoint))
    {
      work(std::integral_constant<int, BorderVariant>{});
      return;
    }
  }
  if constexpr (HasFieldVariants<TArguments>)
  {
    if (variant == FieldValueVariant)
    {
      work(std::integral_constant<int, FieldValueVariant>{});
      return;
    }
    if (variant == SlopeForceVariant)
    {
      work(std::integral_constant<int, SlopeForceVariant>{});
      return;
    }
  }
  switch (ChooseVariant(variant))
  {
    case PlainVariant:
      return work(std::integral_constant<int, PlainVariant>{});
    case PlainFixedPointVariant:
      return work(std::integral_constant<int, PlainFixedPointVariant>{});
    case PlainPointsVariant:
      return work(std::integral_constant<int, PlainPointsVariant>{});
    case FixedPointChainedVariant:
      return work(std::integral_constant<int, FixedPointChainedVariant>{});
    case FixedPointVariant:
      return work(std::integral_constant<int, FixedPointVariant>{});
    case ChainedVariant:
      return work(std::integral_constant<int, ChainedVariant>{});
    default:
      return work(std::integral_constant<int, AnyVariant>{});
  }
}

/** Calls work with each compiled variant. */
template <typename TArguments, typename TWork>
void
WithEachVariant(const TWork & work)
{
  for (const int variant : { int{ PlainVariant },
                             int{ PlainFixedPointVariant },
                             int{ PlainPointsVariant },
                             0,
                             SamplesAreFixedPoint | MovingHasMask,
                             int{ SamplesAreChained },
                             SamplesAreFixedPoint | SamplesAreChained })
  {
    WithVariant<TArguments>(variant, work);
  }
  if constexpr (HasFieldVariants<TArguments>)
  {
    WithVariant<TArguments>(FieldValueVariant, work);
    WithVariant<TArguments>(SlopeForceVariant, work);
  }
  if constexpr (HasBorderWeights<TArguments>)
  {
    WithVariant<TArguments>(PlainBorderVariant, work);
    WithVariant<TArguments>(WeighsBorder, work);
  }
}

extern __shared__ u64 localMemory[];

inline SampleVolumes
GetVolumes(const SampleArrays & arrays)
{
  return MakeSampleVolumes(arrays, [](const MemoryPointer & memory) { return AddressOf<void>(memory); });
}
} // namespace

} // namespace gpureg

#endif
