// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HardwareId_h
#define gpureg_HardwareId_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Error.h"

#include <string>

namespace gpureg
{

/** Returns an identifier of a device that is the same in all processes of the machine, whichever number each of them gives the device:
 *  for CUDA the UUID of the GPU, or of its MIG slice. Returns "" if a device has none.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::string
GetHardwareId(const std::string & deviceName);

} // namespace gpureg

#endif
