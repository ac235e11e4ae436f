// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_MeasureScratch_h
#define gpureg_MeasureScratch_h

#include "engine/runtime/Queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace gpureg
{

/** Returns the bytes in which numbers of a field's voxels are written before they are added up: 16 MiB at most, and 8 a voxel of a small
 *  field. That is no more than each scheme of registration holds for other work, so that its measures need no memory of their own.
 *  \param voxels of the field
 *  \param bytesOfVoxel of the numbers */
inline std::size_t
CountMeasureBytes(std::int64_t voxels, std::size_t bytesOfVoxel)
{
  constexpr std::size_t most = std::size_t{ 16 } << 20;
  return std::max(bytesOfVoxel, std::min(most, 8 * static_cast<std::size_t>(voxels)));
}

/** Returns how many voxels' numbers are added up at a time: as many as scratch holds, but no more than floats count exactly.
 *  \param bytesOfVoxel of the numbers */
inline std::int64_t
CountMeasuredAtOnce(const Memory & scratch, std::size_t bytesOfVoxel)
{
  constexpr std::int64_t most = 1 << 24;
  return std::min(most, static_cast<std::int64_t>(scratch.GetSize() / bytesOfVoxel));
}

} // namespace gpureg

#endif
