// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaSort_h
#define gpureg_CudaSort_h

#include "cuda/runtime/CudaQueue.h"

#include <cstdint>

namespace gpureg
{

/** Enqueues a stable sort of 0 … count - 1 by their keys: sortedKeys and indices are written. scratch is made, and must live
 *  until that is done. */
void
SortIndices(CudaQueue &          queue,
            const kernels::u16 * keys,
            std::uint32_t        count,
            kernels::u16 *       sortedKeys,
            kernels::u32 *       indices,
            MemoryPointer &      scratch);

} // namespace gpureg

#endif
