// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Error_h
#define gpureg_Error_h

#include "GPURegistrationExport.h"

#include <stdexcept>

namespace gpureg
{

/** Is the base class of the errors that the engine throws. The ITK classes turn each into an itk::GPUError of the same kind. */
class GPURegistration_EXPORT Error : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/** Says that a device, or a limit that was set for it, has too little memory for the request; a smaller request may fit. */
class GPURegistration_EXPORT OutOfMemoryError : public Error
{
public:
  using Error::Error;
};

/** Says that the device can no longer compute for this process: it failed, was taken away, or the process was forked. */
class GPURegistration_EXPORT DeviceLostError : public Error
{
public:
  using Error::Error;
};

/** Says that a setting or an input is wrong, on every device. */
class GPURegistration_EXPORT BadInputError : public Error
{
public:
  using Error::Error;
};

/** Says that the engine, this device or its driver cannot compute the request; another device, or ITK's own class, may. */
class GPURegistration_EXPORT UnsupportedError : public Error
{
public:
  using Error::Error;
};

} // namespace gpureg

#endif
