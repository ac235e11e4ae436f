// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HostMemory_h
#define gpureg_HostMemory_h

#include "GPURegistrationExport.h"

#include <cstddef>

namespace gpureg
{

/** Returns the bytes of the computer's memory that this process and others of its control group may use together: all that is physically
 *  there, or the group's limit where that is less. */
GPURegistration_EXPORT
std::size_t
GetHostMemoryLimit();

} // namespace gpureg

#endif
