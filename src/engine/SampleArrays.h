// SPDX-License-Identifier: Apache-2.0
// What a metric's kernels read on a device.
#ifndef gpureg_SampleArrays_h
#define gpureg_SampleArrays_h

#include "Prelude.h"
#include "BSpline.h"
#include "FixedMap.h"
#include "Geometry.h"
#include "Position.h"
#include "Interpolation.h"
#include "TransformChain.h"
#include "ChainSlopes.h"
#include "ForceSums.h"
#include "Evaluated.h"
#include "InvalidSample.h"
#include "Samples.h"
#include "PreciseSamples.h"
#include "PreciseGrid.h"
#include "SampleChain.h"
#include "SamplePartition.h"

#include "ChainArrays.h"

#include <cstddef>

namespace gpureg
{

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
