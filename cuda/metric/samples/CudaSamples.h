// SPDX-License-Identifier: Apache-2.0
// Loops of CUDA's kernels over a metric's samples. For inclusion by .cu files, each of which is compiled for its own metric.
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

// The compiled variants. The plain case over a grid:
constexpr int PlainVariant = ReadsQuads;
// The plain case over a grid with few samples, in fixed point:
constexpr int PlainFixedPointVariant = SamplesAreFixedPoint;
// The plain case over points:
constexpr int PlainPointsVariant = SamplesAreFixedPoint | SamplesArePoints;
// All other variants that are not fixed-point (points always are), looked up at run time:
constexpr int AnyVariant = -1;
// All other fixed-point variants, whose integers need more registers, looked up at run time:
constexpr int FixedPointVariant = -2;
// Displacement fields over a grid, for values and for forces along the interpolation's derivative; some metrics have kernels for these:
constexpr int FieldValueVariant = ReadsQuads | SamplesAreDisplaced;
constexpr int SlopeForceVariant = FieldValueVariant | WritesForces | GradientOfInterpolation;
// Chains, in floats and in fixed point; their arrays would take registers from the other variants:
constexpr int ChainedVariant = -4;
constexpr int FixedPointChainedVariant = -5;
// For a metric that weights the border: the plain case with border weights, and all others with border weights that are not fixed-point:
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
  constexpr int special = SamplesAreFixedPoint | SamplesArePoints | WeighsBorder | SamplesAreChained;
  switch (VVariant)
  {
    case FixedPointVariant:
      return (a.variant & ~SamplesAreChained) | SamplesAreFixedPoint;
    case FixedPointChainedVariant:
      return a.variant | SamplesAreFixedPoint | SamplesAreChained;
    case AnyVariant:
      return a.variant & ~special;
    case ChainedVariant:
      return (a.variant & ~special) | SamplesAreChained;
    case BorderVariant:
      return (a.variant & ~(SamplesAreFixedPoint | SamplesArePoints)) | WeighsBorder;
    default:
      return VVariant;
  }
}

constexpr bool
IsChained(int variant)
{
  return variant == ChainedVariant || variant == FixedPointChainedVariant;
}

/** Returns true if a batch may have this variant: candidates are linear maps only. */
constexpr bool
CanBeBatched(int variant)
{
  return !IsChained(variant) && variant != FieldValueVariant && variant != SlopeForceVariant;
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
  if (variant == PlainVariant)
  {
    work(std::integral_constant<int, PlainVariant>{});
  }
  else if (variant == PlainFixedPointVariant)
  {
    work(std::integral_constant<int, PlainFixedPointVariant>{});
  }
  else if (variant == PlainPointsVariant)
  {
    work(std::integral_constant<int, PlainPointsVariant>{});
  }
  else if (variant & SamplesAreFixedPoint)
  {
    variant & SamplesAreChained ? work(std::integral_constant<int, FixedPointChainedVariant>{})
                                : work(std::integral_constant<int, FixedPointVariant>{});
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

/** Calls work with each compiled variant. */
template <typename TArguments, typename TWork>
void
WithEachVariant(const TWork & work)
{
  for (const int variant : { PlainVariant,
                             PlainFixedPointVariant,
                             PlainPointsVariant,
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
