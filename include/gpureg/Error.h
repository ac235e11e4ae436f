// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Error_h
#define gpureg_Error_h

#include "GPURegistrationExport.h"

#include <stdexcept>

namespace gpureg
{

/** What the engine throws. The ITK face turns it into an itk::ExceptionObject. */
class GPURegistration_EXPORT Error : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

} // namespace gpureg

#endif
