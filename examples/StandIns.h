// SPDX-License-Identifier: Apache-2.0
#ifndef StandIns_h
#define StandIns_h

#include "Registration.h"

#include "itkGPURegistrationFactory.h"

namespace example
{

/** Puts this module's smoothing, shrinking and resampling in the places of ITK's, on the registration's device; unless it is
 * ITK's own metric that is to be looked at: then all is ITK's. */
inline void
UseStandIns(const RegistrationSettings & settings)
{
  if (settings.measure != Measure::ITKMattes)
  {
    itk::GPUDevice::SetDefault(settings.device);
    itk::GPURegistrationFactory::RegisterAll();
  }
}

} // namespace example

#endif
