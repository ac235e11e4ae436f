// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUIsExactly_h
#define itkGPUIsExactly_h

#include "itkLightObject.h"

#include <typeinfo>

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns true if object is not null, and of class TClass itself; a derived class may behave differently. */
template <typename TClass>
bool
IsExactly(const LightObject * object)
{
  return object != nullptr && typeid(*object) == typeid(TClass);
}

/** Returns true if object is exactly of one of these classes. */
template <typename... TClasses>
bool
IsExactlyOneOf(const LightObject * object)
{
  return (IsExactly<TClasses>(object) || ...);
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
