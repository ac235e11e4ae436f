// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUError_h
#define itkGPUError_h

#include "GPURegistrationExport.h"

#include "itkMacro.h"

namespace itk
{

/** \class GPUError
 * \brief Is the base class of the errors that this module's classes throw.
 *
 * The derived classes are its kinds:
 * - GPUOutOfMemoryError: a device, or a limit that was set for it, has too little memory;
 * - GPUDeviceLostError: the device can no longer compute for this process;
 * - GPUBadInputError: a setting or an input is wrong, on every device;
 *   - GPUNoOverlapError, a kind of GPUBadInputError: no sample of a metric is valid at the transform's position;
 * - GPUUnsupportedError: this device, or this module, cannot compute the request.
 *
 * Any other failure of a device is a GPUError of no kind. ITK's own classes, from which this module's are derived, throw other
 * itk::ExceptionObjects. A class that replaces ITK's (GPURegistrationFactory) throws none of these errors if ITK's class would work: it
 * warns, and lets ITK's class do the work.
 *
 * \code
 * try { filter->Update(); }
 * catch (const itk::GPUOutOfMemoryError &) { filter->SetDevice(itk::GPUDevice::FromName("host")); filter->Update(); }
 * \endcode
 *
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUError : public ExceptionObject
{
public:
  using ExceptionObject::ExceptionObject;

  const char *
  GetNameOfClass() const override
  {
    return "GPUError";
  }
};

/** \class GPUOutOfMemoryError
 * \brief Says that a device, or a limit that was set for it, has too little memory for the request; a smaller request may fit.
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUOutOfMemoryError : public GPUError
{
public:
  using GPUError::GPUError;

  const char *
  GetNameOfClass() const override
  {
    return "GPUOutOfMemoryError";
  }
};

/** \class GPUDeviceLostError
 * \brief Says that the device can no longer compute for this process: it failed, was taken away, or the process was forked.
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUDeviceLostError : public GPUError
{
public:
  using GPUError::GPUError;

  const char *
  GetNameOfClass() const override
  {
    return "GPUDeviceLostError";
  }
};

/** \class GPUBadInputError
 * \brief Says that a setting or an input is wrong, on every device.
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUBadInputError : public GPUError
{
public:
  using GPUError::GPUError;

  const char *
  GetNameOfClass() const override
  {
    return "GPUBadInputError";
  }
};

/** \class GPUNoOverlapError
 * \brief Says that no sample of a metric is valid at the transform's position: the images do not overlap, or masks leave nothing of the
 * overlap. Another position may be valid.
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUNoOverlapError : public GPUBadInputError
{
public:
  using GPUBadInputError::GPUBadInputError;

  const char *
  GetNameOfClass() const override
  {
    return "GPUNoOverlapError";
  }
};

/** \class GPUUnsupportedError
 * \brief Says that this device, or this module, cannot compute the request; another device, or ITK's own class, may.
 * \ingroup GPURegistration
 */
class GPURegistration_EXPORT GPUUnsupportedError : public GPUError
{
public:
  using GPUError::GPUError;

  const char *
  GetNameOfClass() const override
  {
    return "GPUUnsupportedError";
  }
};

} // namespace itk

#endif
