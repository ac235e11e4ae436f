// SPDX-License-Identifier: Apache-2.0
// Counts the items of the kernels that include kernels/field/FieldBlocks.h.
#ifndef gpureg_CountBlocks_h
#define gpureg_CountBlocks_h

#include "engine/core/Range.h"
#include "engine/field/FieldKernels.h"
#include "engine/runtime/Queue.h"

#include <cstdint>

namespace gpureg
{

/** Returns the number of a grid's blocks on a queue's device, of which each is an item.
 *  \param axis along which they are long: 1 or 2
 *  \param deviceLength their length on other devices than the host */
inline std::int64_t
CountBlocks(const Queue & queue, const kernels::FieldGrid & grid, int axis, int deviceLength)
{
  return queue.GetKind() == DeviceKind::Host
           ? kernels::CountFieldBlocks(&grid, axis, kernels::HostBlockWidth, kernels::HostBlockLength)
           : kernels::CountFieldBlocks(&grid, axis, kernels::DeviceBlockWidth, deviceLength);
}

/** A number of planes that is a multiple of every block's length along z: planes that begin at a multiple of it begin with a block of their
 *  own. */
constexpr int PlanesOfBlocks = 16;
static_assert(PlanesOfBlocks % kernels::HostBlockLength == 0 && PlanesOfBlocks % kernels::DeviceBlockLength == 0 &&
                PlanesOfBlocks % kernels::DeviceBoxesLength == 0,
              "blocks of all lengths begin there");

/** Returns the blocks along z of a range of a grid's planes, which begins at a multiple of PlanesOfBlocks, and ends at one or with the
 *  grid.
 *  \param deviceLength as that of CountBlocks() */
inline Range
LocateBlocks(const Queue & queue, const kernels::FieldGrid & grid, int deviceLength, const Range & planes)
{
  const int          length = queue.GetKind() == DeviceKind::Host ? int{ kernels::HostBlockLength } : deviceLength;
  const std::int64_t ofPlane =
    CountBlocks(queue, grid, 2, deviceLength) / kernels::CountBlocksAlong(grid.size[2], length);
  const std::int64_t begin = planes.first / length;
  const std::int64_t end = (planes.GetEnd() + length - 1) / length;
  return { begin * ofPlane, (end - begin) * ofPlane };
}

} // namespace gpureg

#endif
