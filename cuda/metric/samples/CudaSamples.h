// SPDX-License-Identifier: Apache-2.0
// How CUDA's kernels go through a metric's samples. To be included by .cu files, each of which is compiled for its metric.
#ifndef gpureg_CudaSamples_h
#define gpureg_CudaSamples_h

#include "cuda/runtime/CudaQueue.h"

#include "engine/metric/samples/SampleArrays.h"

#include "kernels/core/LaneReduction.h"
#include "kernels/metric/samples/ForceKernels.h"

namespace gpureg
{

using namespace kernels;

namespace
{
// Measured on an H200 over 181×217×181 voxels: 4 blocks of 512 a multiprocessor for values, which wait for memory; 2 for
// forces, whose eight 16-byte loads want registers. As many chunks as the first have blocks at once.
constexpr int Lanes = 512;
constexpr int ValueBlocks = 4;
constexpr int ForceBlocks = 2;
constexpr int PreciseBlocks = 2;
constexpr int SlopeBlocks = 3;
// Chains follow parts and their Jacobians: with 32 and 64 registers they spilled 1200 bytes a lane, and took three times as long.
constexpr int ChainedValueBlocks = 2;
constexpr int ChainedForceBlocks = 1;
constexpr int TargetChunks = 528;

// Kernels are compiled for the plain case over a grid, …
constexpr int PlainVariant = ReadsQuads;
// … over a small one, …
constexpr int PlainPreciseVariant = SamplesArePrecise;
// … over points, …
constexpr int PlainPointsVariant = SamplesArePrecise | SamplesArePoints;
// … and, looking the rest of their variant up at run time, for all that are not precise (points always are), …
constexpr int AnyVariant = -1;
// … and all that are, whose integers take more registers. …
constexpr int PreciseVariant = -2;
// … Displacement fields over a grid, which have kernels of their own for some metrics: of values, and of forces along the
// interpolation's derivative. …
constexpr int FieldValueVariant = ReadsQuads | SamplesAreDisplaced;
constexpr int SlopeForceVariant = FieldValueVariant | WritesForces | GradientOfInterpolation;
// … Those of chains are by themselves, in floats and in integers: their arrays would take others' registers. …
constexpr int ChainedVariant = -4;
constexpr int PreciseChainedVariant = -5;
// … A metric that weighs the border has two more: the plain case with that, and all that are not precise.
constexpr int PlainBorderVariant = ReadsQuads | WeighsBorder;
constexpr int BorderVariant = -3;

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
  constexpr int special = SamplesArePrecise | SamplesArePoints | WeighsBorder | SamplesAreChained;
  switch (VVariant)
  {
    case PreciseVariant:
      return (a.variant & ~SamplesAreChained) | SamplesArePrecise;
    case PreciseChainedVariant:
      return a.variant | SamplesArePrecise | SamplesAreChained;
    case AnyVariant:
      return a.variant & ~special;
    case ChainedVariant:
      return (a.variant & ~special) | SamplesAreChained;
    case BorderVariant:
      return (a.variant & ~(SamplesArePrecise | SamplesArePoints)) | WeighsBorder;
    default:
      return VVariant;
  }
}

constexpr bool
IsChained(int variant)
{
  return variant == ChainedVariant || variant == PreciseChainedVariant;
}

/** Batches are of linear maps. */
constexpr bool
CanBeBatched(int variant)
{
  return !IsChained(variant) && variant != FieldValueVariant && variant != SlopeForceVariant;
}

constexpr bool
IsPrecise(int variant)
{
  return variant == PlainPreciseVariant || variant == PlainPointsVariant || variant == PreciseVariant ||
         variant == PreciseChainedVariant;
}

/** Calls work with the one of them that a variant belongs to. */
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
    if ((variant & WeighsBorder) && !(variant & SamplesArePrecise))
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
  if (variant == PlainVariant)
  {
    work(std::integral_constant<int, PlainVariant>{});
  }
  else if (variant == PlainPreciseVariant)
  {
    work(std::integral_constant<int, PlainPreciseVariant>{});
  }
  else if (variant == PlainPointsVariant)
  {
    work(std::integral_constant<int, PlainPointsVariant>{});
  }
  else if (variant & SamplesArePrecise)
  {
    variant & SamplesAreChained ? work(std::integral_constant<int, PreciseChainedVariant>{})
                                : work(std::integral_constant<int, PreciseVariant>{});
  }
  else if (variant & SamplesAreChained)
  {
    work(std::integral_constant<int, ChainedVariant>{});
  }
  else
  {
    work(std::integral_constant<int, AnyVariant>{});
  }
}

/** Calls work with each of them. */
template <typename TArguments, typename TWork>
void
WithEachVariant(const TWork & work)
{
  for (const int variant : { PlainVariant,
                             PlainPreciseVariant,
                             PlainPointsVariant,
                             0,
                             SamplesArePrecise | MovingHasMask,
                             int{ SamplesAreChained },
                             SamplesArePrecise | SamplesAreChained })
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
