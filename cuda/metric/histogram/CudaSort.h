// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_CudaSort_h
#define gpureg_CudaSort_h

#include "cuda/runtime/CudaQueue.h"

#include <cstdint>

namespace gpureg
{

/** Enqueues a stable sort of the indices 0 … count - 1 by their keys; writes sortedKeys and indices. Allocates scratch, which must live
 *  until the sort is done. */
void
SortIndices(CudaQueue &          queue,
            const kernels::u16 * keys,
            std::uint32_t        count,
            kernels::u16 *       sortedKeys,
            kernels::u32 *       indices,
            MemoryPointer &      scratch);

} // namespace gpureg

#endif
