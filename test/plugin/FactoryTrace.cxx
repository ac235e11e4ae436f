// SPDX-License-Identifier: Apache-2.0
// A plugin for ITK_AUTOLOAD_PATH, to be named before others. For each object that a later factory makes, it appends a line with the
// object's class to the file that GPUREG_FACTORY_TRACE names. It is not linked to this module, and makes nothing itself: the program and
// the plugin under test run unchanged.
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

/** Marks this thread as asking the other factories for a class, as long as it lives. */
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
    // All factories are called again, this one included, which then does nothing. Objects made in a constructor have another name, and are
    // recorded, too.
    const char * file = std::getenv("GPUREG_FACTORY_TRACE");
    if (file == nullptr || askedFor == name)
    {
      return nullptr;
    }
    const Asking                    asking(name);
    const itk::LightObject::Pointer object = CreateInstance(name);
    if (object)
    {
      object->UnRegister(); // CreateInstance() counts a reference that New() releases; there is one more outside
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
