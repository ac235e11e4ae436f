// SPDX-License-Identifier: Apache-2.0
// What a metric's kernels read on a device.
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
#include "kernels/metric/samples/PreciseSamples.h"
#include "kernels/metric/samples/PreciseGrid.h"
#include "kernels/metric/samples/SampleChain.h"
#include "kernels/core/LaneLimits.h"
#include "kernels/metric/samples/SamplePartition.h"

#include "engine/transform/ChainArrays.h"

#include <cstddef>

namespace gpureg
{

static_assert(2 * kernels::ForceSumCount <= kernels::LargestLaneSums, "with the second ones of few samples");

/** Null where the variant has none. kernels::SampleVolumes says what they hold. */
struct SampleArrays
{
  MemoryPointer fixedBins;
  MemoryPointer fixedValues;
  MemoryPointer fixedGradients;
  MemoryPointer points;
  MemoryPointer displacement;
  MemoryPointer moving;
  MemoryPointer quads;
  MemoryPointer coefficients;
  MemoryPointer gradient;
  MemoryPointer mask;
  MemoryPointer movingBins;
  ChainArrays   chain;
};

/** They as kernels see them. \param addressOf from a MemoryPointer to its address, null if there is none. */
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
           get(float{}, arrays.displacement),
           get(float{}, arrays.moving),
           get(kernels::float4{}, arrays.quads),
           get(float{}, coefficients),
           get(kernels::float4{}, arrays.gradient),
           get(kernels::u8{}, arrays.mask),
           get(float{}, arrays.fixedGradients),
           get(kernels::i64{}, arrays.moving),
           get(kernels::i64{}, coefficients),
           get(kernels::i64{}, arrays.fixedValues),
           get(kernels::i64{}, arrays.displacement),
           get(kernels::u64{}, arrays.movingBins),
           get(kernels::ChainPart{}, arrays.chain.parts),
           get(kernels::float4{}, arrays.chain.vectors),
           get(kernels::i64{}, arrays.chain.vectors),
           get(float{}, arrays.chain.jacobians) };
}

/** How a device wants its samples. */
struct SampleGrain
{
  /** Samples side by side, a multiple of kernels::TileWidth and a power of two. */
  int lanes;
  /** So many chunks keep the device busy. */
  int targetChunks;
  /** Bytes of local memory a group may use. */
  std::size_t localBytes;
  /** Keep the moving values as quads. */
  bool readsQuads;
};

} // namespace gpureg

#endif
