// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LargePages_h
#define gpureg_LargePages_h

#include "gpureg/core/ParallelFor.h"

#include "GPURegistrationExport.h"

#include <cstddef>

namespace gpureg
{

/** Prepares memory that has not been touched yet for being written by many threads: in large pages, each of which one
 *  thread has brought in. Otherwise they spend most of their time waiting for each other's pages. It is a wish: where
 *  the system knows of no large pages (any but Linux), or the memory has room for a few at most, nothing happens. What
 *  the memory holds stays; nobody else may write to it meanwhile. */
GPURegistration_EXPORT
void
PrepareForWriting(void * memory, std::size_t bytes, const ParallelFor & parallelFor);

} // namespace gpureg

#endif
