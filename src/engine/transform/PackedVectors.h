// SPDX-License-Identifier: Apache-2.0
// Displacement vectors as kernels read them: in floats, or in fixed point (src/kernels/metric/samples/FixedPointGrid.h).
#ifndef gpureg_PackedVectors_h
#define gpureg_PackedVectors_h

#include "gpureg/transform/TransformChain.h"

#include "engine/transform/FixedPoint.h"
#include "engine/core/Matrix3.h"
#include "engine/runtime/Queue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace gpureg
{

using FixedPointMove = std::array<kernels::i64, 3>;

// In voxels. A position's 64 bits do not overflow where the map leads equally far.
constexpr double FarthestVoxel = 1 << 29;

inline void
Pack(const Vector3 & vector, kernels::float4 & packed)
{
  packed = { static_cast<float>(vector[0]), static_cast<float>(vector[1]), static_cast<float>(vector[2]), 0.0f };
}

/** Packs a vector in fixed point. A component that is larger than FarthestVoxel, or not a number, leads out of every image. */
inline void
Pack(const Vector3 & vector, FixedPointMove & packed)
{
  for (std::size_t r = 0; r < 3; ++r)
  {
    packed[r] = ToFixedPoint(vector[r] > -FarthestVoxel ? std::min(vector[r], FarthestVoxel) : -FarthestVoxel);
  }
}

/** Returns a filler that packs the products of a matrix and each vector. */
template <typename TPacked>
Filler
MakePackedFiller(VectorFiller vectors, const Matrix3 & matrix)
{
  return [vectors = std::move(vectors), matrix](std::int64_t first, std::int64_t count, void * out) {
    constexpr std::int64_t Block = 1024;
    double                 block[3 * Block];
    auto *                 packed = static_cast<TPacked *>(out);
    for (std::int64_t begin = 0; begin < count; begin += Block)
    {
      const std::int64_t now = std::min(Block, count - begin);
      vectors(first + begin, now, block);
      for (std::int64_t i = 0; i < now; ++i)
      {
        Pack(Multiply(matrix, Vector3{ block[3 * i], block[3 * i + 1], block[3 * i + 2] }), packed[begin + i]);
      }
    }
  };
}

} // namespace gpureg

#endif
