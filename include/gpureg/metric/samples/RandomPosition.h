// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_RandomPosition_h
#define gpureg_RandomPosition_h

#include "GPURegistrationExport.h"

#include <array>
#include <cstdint>

namespace gpureg
{

/** Identifies a random number: the same key always gives the same number, in whichever order numbers are drawn. */
struct RandomKey
{
  std::uint64_t seed = 0;
  /** Number of one of several series with a seed, such as one for each purpose of an optimizer. */
  std::uint32_t series = 0;
  std::uint32_t iteration = 0;
  std::uint32_t sample = 0;
};

/** Returns a random position in a grid, along each axis from -1/2 to size - 1/2, in voxels, by Philox4x32-10 (see
 *  src/kernels/core/CounterRandom.h). */
GPURegistration_EXPORT
std::array<double, 3>
DrawPosition(const RandomKey & key, const std::array<int, 3> & size);

} // namespace gpureg

#endif
