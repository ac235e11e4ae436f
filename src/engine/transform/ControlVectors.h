// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlVectors_h
#define gpureg_ControlVectors_h

#include "kernels/core/Prelude.h"

#include "engine/runtime/Transfer.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gpureg
{

/** Downloads one vector per control point, stored as float4 on the device. */
template <typename TReal>
std::vector<std::array<TReal, 3>>
DownloadControlVectors(Queue & queue, const Memory & vectors, std::int64_t count)
{
  std::vector<std::array<TReal, 3>> result(static_cast<std::size_t>(count));
  DownloadArray(queue,
                vectors,
                sizeof(kernels::float4),
                count,
                [&result](std::int64_t first, std::int64_t number, const void * in) {
                  const auto * const from = static_cast<const kernels::float4 *>(in);
                  for (std::int64_t n = 0; n < number; ++n)
                  {
                    result[static_cast<std::size_t>(first + n)] = { from[n].x, from[n].y, from[n].z };
                  }
                });
  return result;
}

/** Uploads one vector per control point, stored as float4 on the device. */
inline void
FillControlVectors(Queue & queue, const std::vector<std::array<float, 3>> & vectors, Memory & target)
{
  UploadArray(queue,
              target,
              0,
              sizeof(kernels::float4),
              static_cast<std::int64_t>(vectors.size()),
              [&vectors](std::int64_t first, std::int64_t count, void * out) {
                auto * const to = static_cast<kernels::float4 *>(out);
                for (std::int64_t n = 0; n < count; ++n)
                {
                  const auto & vector = vectors[static_cast<std::size_t>(first + n)];
                  to[n] = kernels::MakeFloat4(vector[0], vector[1], vector[2], 0.0f);
                }
              });
}

} // namespace gpureg

#endif
