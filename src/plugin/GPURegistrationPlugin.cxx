// SPDX-License-Identifier: Apache-2.0
// Defines the function that ITK calls in each library of ITK_AUTOLOAD_PATH.
#include "itkGPURegistrationFactory.h"

extern "C" ITK_ABI_EXPORT itk::ObjectFactoryBase *
                          itkLoad()
{
  static const itk::GPURegistrationFactory::Pointer factory = itk::GPURegistrationFactory::Create("");
  return factory;
}
