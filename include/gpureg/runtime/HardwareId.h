// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_HardwareId_h
#define gpureg_HardwareId_h

#include "GPURegistrationExport.h"
#include "gpureg/core/Error.h"

#include <string>

namespace gpureg
{

/** What a device is to all processes of its machine, whichever number each of them knows it by: of CUDA its UUID, or that of its MIG
 *  slice. "" where there is none.
 *  \throws Error if there is no such device. */
GPURegistration_EXPORT
std::string
GetHardwareId(const std::string & deviceName);

} // namespace gpureg

#endif
