// SPDX-License-Identifier: Apache-2.0
#ifndef Overrides_h
#define Overrides_h

#include "Registration.h"

#include "itkGPURegistrationFactory.h"

namespace example
{

/** Overrides ITK's smoothing, shrinking and resampling filters by this module's, on the registration's device; unless ITK's own metric
 *  is selected: then everything is ITK's. */
inline void
UseOverrides(const RegistrationSettings & settings)
{
  if (settings.measure != Measure::ITKMattes)
  {
    itk::GPUDevice::SetDefault(settings.device);
    itk::GPURegistrationFactory::RegisterAll();
  }
}

} // namespace example

#endif
