// SPDX-License-Identifier: Apache-2.0
#ifndef ReplacingFactory_h
#define ReplacingFactory_h

#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

#include <typeinfo>

namespace gpuregtest
{

/** Overrides ITK's classes wherever ITK or a program makes an object, while it is registered. */
class ReplacingFactory : public itk::ObjectFactoryBase
{
public:
  using Self = ReplacingFactory;
  using Pointer = itk::SmartPointer<Self>;
  itkFactorylessNewMacro(Self);

  const char *
  GetITKSourceVersion() const override
  {
    return ITK_SOURCE_VERSION;
  }

  const char *
  GetDescription() const override
  {
    return "Classes in the place of those that they are derived from";
  }

  /** Registers a class as the override of its superclass, or of another base class. */
  template <typename TClass, typename TReplaced = typename TClass::Superclass>
  void
  Replace()
  {
    this->RegisterOverride(
      typeid(TReplaced).name(), typeid(TClass).name(), "replacement", true, itk::CreateObjectFunction<TClass>::New());
  }
};

} // namespace gpuregtest

#endif
