// SPDX-License-Identifier: Apache-2.0
// The arrays on a device that a metric's kernels read.
#ifndef gpureg_SampleArrays_h
#define gpureg_SampleArrays_h

#include "kernels/core/Prelude.h"
#include "kernels/transform/BSpline.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/core/Geometry.h"
#include "kernels/metric/samples/Position.h"
#include "kernels/metric/samples/Interpolation.h"
#include "kernels/transform/TransformChain.h"
#include "kernels/transform/ChainSlopes.h"
#include "kernels/metric/samples/ForceSums.h"
#include "kernels/core/Evaluated.h"
#include "kernels/image/InvalidSample.h"
#include "kernels/metric/samples/Samples.h"
#include "kernels/metric/samples/FixedPointSamples.h"
#include "kernels/metric/samples/FixedPointGrid.h"
#include "kernels/metric/samples/SampleChain.h"
#include "kernels/core/LaneLimits.h"
#include "kernels/metric/samples/SamplePartition.h"

#include "engine/metric/samples/DisplacementArray.h"
#include "engine/runtime/KernelArguments.h"
#include "engine/transform/ChainArrays.h"

#include <cstddef>

namespace gpureg
{

static_assert(2 * kernels::ForceSumCount <= kernels::LargestLaneSums, "with the second ones of few samples");

/** The arrays of samples; kernels::SampleVolumes documents them. An array that the variant does not need is null. */
struct SampleArrays
{
  MemoryPointer     fixedBins;
  MemoryPointer     fixedValues;
  MemoryPointer     fixedGradients;
  MemoryPointer     points;
  DisplacementArray displacement;
  MemoryPointer     moving;
  MemoryPointer     quads;
  MemoryPointer     coefficients;
  MemoryPointer     gradient;
  MemoryPointer     mask;
  MemoryPointer     movingBins;
  ChainArrays       chain;
};

/** Returns the arrays as kernels read them. \param addressOf returns the address of a MemoryPointer, or null if there is no memory */
template <typename TAddressOf>
kernels::SampleVolumes
MakeSampleVolumes(const SampleArrays & arrays, const TAddressOf & addressOf)
{
  const auto get = [&addressOf](auto type, const MemoryPointer & memory) {
    return static_cast<const decltype(type) *>(addressOf(memory));
  };
  const MemoryPointer & coefficients = arrays.coefficients ? arrays.coefficients : arrays.moving;
  return { get(kernels::u16{}, arrays.fixedBins),
           get(float{}, arrays.fixedValues),
           get(kernels::i64{}, arrays.points),
           get(float{}, arrays.displacement.GetMemory()),
           get(float{}, arrays.moving),
           get(kernels::float4{}, arrays.quads),
           get(float{}, coefficients),
           get(kernels::float4{}, arrays.gradient),
           get(kernels::u8{}, arrays.mask),
           get(float{}, arrays.fixedGradients),
           get(kernels::i64{}, arrays.moving),
           get(kernels::i64{}, coefficients),
           get(kernels::i64{}, arrays.fixedValues),
           get(kernels::i64{}, arrays.displacement.GetMemory()),
           get(kernels::u64{}, arrays.movingBins),
           get(kernels::ChainPart{}, arrays.chain.parts),
           get(kernels::float4{}, arrays.chain.vectors),
           get(kernels::i64{}, arrays.chain.vectors),
           get(float{}, arrays.chain.jacobians) };
}

template <>
inline constexpr bool isArrayStructure<kernels::SampleVolumes> = true;

/** Returns the arrays as LaunchGroups() takes them; opencl/metric/samples/SampleVolumes.cl has them in this order. */
inline ArrayStructure<kernels::SampleVolumes>
GetVolumeArguments(const SampleArrays & arrays)
{
  const auto address = [](const MemoryPointer & memory) { return memory ? memory->GetAddress() : nullptr; };
  return { MakeSampleVolumes(arrays, address),
           { arrays.fixedBins.get(),
             arrays.fixedValues.get(),
             arrays.fixedGradients.get(),
             arrays.points.get(),
             arrays.displacement.GetMemory().get(),
             arrays.moving.get(),
             arrays.quads.get(),
             (arrays.coefficients ? arrays.coefficients : arrays.moving).get(),
             arrays.gradient.get(),
             arrays.mask.get(),
             arrays.movingBins.get(),
             arrays.chain.parts.get(),
             arrays.chain.vectors.get(),
             arrays.chain.jacobians.get() },
           14 };
}

/** Describes how a device processes samples. */
struct SampleGrain
{
  /** The number of samples that a group processes side by side, a multiple of kernels::TileWidth and a power of two. */
  int lanes;
  /** The number of chunks that keeps the device busy. */
  int targetChunks;
  /** The bytes of local memory that a group may use. */
  std::size_t localBytes;
  /** True if moving values are stored as quads. */
  bool readsQuads;
};

} // namespace gpureg

#endif
