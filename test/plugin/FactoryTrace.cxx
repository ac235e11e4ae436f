// SPDX-License-Identifier: Apache-2.0
// A plugin for ITK_AUTOLOAD_PATH, to be named before others: appends to the file that GPUREG_FACTORY_TRACE names a
// line for each object that a factory after it makes, the object's class. It is linked to nothing of this module and
// makes nothing itself: a program, and the plugin that is watched, run as they are.
#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

#include <cxxabi.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <typeinfo>

namespace
{

std::string
GetNameOf(const std::type_info & type)
{
  using NamePointer = std::unique_ptr<char, void (*)(void *)>;
  const NamePointer name(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), std::free);
  return name ? name.get() : type.name();
}

thread_local const char * askedFor = nullptr;

/** While it lives, this thread asks the other factories for a class. */
class Asking
{
public:
  explicit Asking(const char * name)
    : m_Before(askedFor)
  {
    askedFor = name;
  }

  ~Asking()
  {
    askedFor = m_Before;
  }

  Asking(const Asking &) = delete;
  Asking &
  operator=(const Asking &) = delete;

private:
  const char * m_Before;
};

class FactoryTrace : public itk::ObjectFactoryBase
{
public:
  using Self = FactoryTrace;
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
    return "writes down what other factories make";
  }

protected:
  itk::LightObject::Pointer
  CreateObject(const char * name) override
  {
    // All factories are asked again, this one among them: for nothing. What an object makes in its constructor goes by
    // another name and is written down, too.
    const char * file = std::getenv("GPUREG_FACTORY_TRACE");
    if (file == nullptr || askedFor == name)
    {
      return nullptr;
    }
    const Asking                    asking(name);
    const itk::LightObject::Pointer object = CreateInstance(name);
    if (object)
    {
      object->UnRegister(); // CreateInstance() counts a reference for New() to take back; there is one more outside
      const itk::LightObject & made = *object;
      std::ofstream(file, std::ios::app) << GetNameOf(typeid(made)) + '\n';
    }
    return object;
  }
};

} // namespace

extern "C" ITK_ABI_EXPORT itk::ObjectFactoryBase *
                          itkLoad()
{
  static const FactoryTrace::Pointer factory = FactoryTrace::New();
  return factory;
}
