// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RandomPosition_h
#define gpureg_RandomPosition_h

#include "GPURegistrationExport.h"

#include <array>
#include <cstdint>

namespace gpureg
{

/** What a random number is for: the same for the same, whoever asks, in any order. */
struct RandomKey
{
  std::uint64_t seed = 0;
  /** Which of several series of a seed, such as one for each of an optimizer's uses. */
  std::uint32_t series = 0;
  std::uint32_t iteration = 0;
  std::uint32_t sample = 0;
};

/** A random position in a grid: along each axis from -1/2 to size - 1/2, in voxels, by Philox4x32-10
 *  (src/kernels/core/CounterRandom.h). */
GPURegistration_EXPORT
std::array<double, 3>
DrawPosition(const RandomKey & key, const std::array<int, 3> & size);

} // namespace gpureg

#endif
