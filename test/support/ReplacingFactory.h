// SPDX-License-Identifier: Apache-2.0
#ifndef ReplacingFactory_h
#define ReplacingFactory_h

#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

#include <typeinfo>

namespace gpuregtest
{

/** Puts classes in the place of ITK's wherever ITK or a program makes one: once it is registered. */
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

  /** A class in the place of its superclass, or of another one that it is derived from. */
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
