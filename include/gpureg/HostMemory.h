// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HostMemory_h
#define gpureg_HostMemory_h

#include "GPURegistrationExport.h"

#include <cstddef>

namespace gpureg
{

/** Asks the system for large pages for memory that is written next, and has not been touched yet. With small ones,
 *  many threads that write to it spend most of their time waiting for each other's pages. It is a wish: where the
 *  system knows of none (any but Linux), or the memory has no room for one, nothing happens. */
GPURegistration_EXPORT
void
PreferLargePages(void * memory, std::size_t bytes) noexcept;

} // namespace gpureg

#endif
