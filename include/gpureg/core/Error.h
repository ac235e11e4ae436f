// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Error_h
#define gpureg_Error_h

#include "GPURegistrationExport.h"

#include <stdexcept>

namespace gpureg
{

/** What the engine throws. The ITK classes turn it into an itk::GPUError of the same kind. */
class GPURegistration_EXPORT Error : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/** A device, or a limit that was set for it, has no room for this; for less it may have. */
class GPURegistration_EXPORT OutOfMemoryError : public Error
{
public:
  using Error::Error;
};

/** The device computes nothing more for this process: it failed, was taken away, or the process was forked. */
class GPURegistration_EXPORT DeviceLostError : public Error
{
public:
  using Error::Error;
};

/** What was handed in is wrong, on every device. */
class GPURegistration_EXPORT BadInputError : public Error
{
public:
  using Error::Error;
};

/** The engine, this device or its driver cannot compute this; another device, or ITK's own class, may. */
class GPURegistration_EXPORT UnsupportedError : public Error
{
public:
  using Error::Error;
};

} // namespace gpureg

#endif
