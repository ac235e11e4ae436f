// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUIsExactly_h
#define itkGPUIsExactly_h

#include "itkLightObject.h"

#include <typeinfo>

namespace itk
{
namespace GPURegistrationDetail
{

/** Whether there is an object, and it is of this class and of none derived from it, which may do otherwise. */
template <typename TClass>
bool
IsExactly(const LightObject * object)
{
  return object != nullptr && typeid(*object) == typeid(TClass);
}

/** Whether it is exactly of one of these classes. */
template <typename... TClasses>
bool
IsExactlyOneOf(const LightObject * object)
{
  return (IsExactly<TClasses>(object) || ...);
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
