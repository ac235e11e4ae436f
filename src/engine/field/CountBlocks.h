// SPDX-License-Identifier: Apache-2.0
// Counts the items of the kernels that include kernels/field/FieldBlocks.h.
#ifndef gpureg_CountBlocks_h
#define gpureg_CountBlocks_h

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

} // namespace gpureg

#endif
