// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LargePages_h
#define gpureg_LargePages_h

#include "gpureg/core/ParallelFor.h"

#include "GPURegistrationExport.h"

#include <cstddef>

namespace gpureg
{

/** Prepares untouched memory for writing by many threads, by large pages that are each first touched by one thread. Otherwise the
 *  threads spend most of their time waiting for page faults. Does nothing if the system has no large pages (all but Linux), or the
 *  memory holds only a few of them. The contents of the memory stay; no other thread may write to the memory during the call. */
GPURegistration_EXPORT
void
PrepareForWriting(void * memory, std::size_t bytes, const ParallelFor & parallelFor);

} // namespace gpureg

#endif
