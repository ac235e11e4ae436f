// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUError_h
#define itkGPUError_h

#include "GPURegistrationExport.h"

#include "itkMacro.h"

namespace itk
{

/** \class GPUError
 * \brief What this module's classes throw. Its kinds are the classes derived from it:
 *
 * - GPUOutOfMemoryError: a device, or a limit that was set for it, has no room;
 * - GPUDeviceLostError: the device computes nothing more for this process;
 * - GPUBadInputError: what was set is wrong, on every device; of which
 *   - GPUNoOverlapError: a metric has no sample where the transform leads;
 * - GPUUnsupportedError: this device, or this module, cannot compute it.
 *
 * Whatever else a device fails in is a GPUError of no kind. ITK's own classes, from which this module's are derived,
 * throw other itk::ExceptionObjects. A class that stands in for ITK's (GPURegistrationFactory) throws none of these
 * where ITK's would work: it warns, and lets ITK's do the work.
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
 * \brief A device, or a limit that was set for it, has no room for this; for less it may have.
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
 * \brief The device computes nothing more for this process: it failed, was taken away, or the process was forked.
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
 * \brief What was set is wrong, on every device.
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
 * \brief No sample of a metric is valid where the transform leads: the images do not overlap, or masks leave nothing of
 * the overlap. Another position may do.
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
 * \brief This device, or this module, cannot compute it; another device, or ITK's own class, may.
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
