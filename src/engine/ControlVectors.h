// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ControlVectors_h
#define gpureg_ControlVectors_h

#include "Prelude.h"

#include "Queue.h"

#include <array>
#include <cstdint>
#include <vector>

namespace gpureg
{

/** Brings a vector for each control point, float4 on the device, to the host. */
template <typename TReal>
std::vector<std::array<TReal, 3>>
BringControlVectors(Queue & queue, const Memory & vectors, std::int64_t count)
{
  std::vector<std::array<TReal, 3>> result(static_cast<std::size_t>(count));
  DrainArray(queue,
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

} // namespace gpureg

#endif
