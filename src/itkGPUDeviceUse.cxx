// SPDX-License-Identifier: Apache-2.0
#include "GPURegistrationDetail/core/itkGPUDeviceUse.h"

#include "gpureg/runtime/EngineUser.h"

#include "engine/runtime/Fork.h"

#include "itkCommand.h"

#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace itk
{
namespace GPURegistrationDetail
{

namespace
{
template <typename TKind, typename TError>
void
ThrowIf(const gpureg::Error & error, const std::string & text)
{
  if (dynamic_cast<const TKind *>(&error) != nullptr)
  {
    throw TError(__FILE__, __LINE__, text, ITK_LOCATION);
  }
}
thread_local bool isWithoutDevices = false;

/** Frees what idle engines hold in the name of objects that are deleted, which it waits for as one of their observers. */
class EngineDropper : public Command
{
public:
  using Self = EngineDropper;
  using Pointer = SmartPointer<Self>;
  itkNewMacro(Self);

  /** Observes an object, unless it does so already. Others may have removed it from there, and an object may be where one was that is
   *  gone without a word: so the object is asked, too. From several threads one at a time. */
  static void
  Observe(const Object & object)
  {
    const std::lock_guard<gpureg::ForkSafeMutex> lock(GetMutex());
    const auto                                   known = GetTags().find(&object);
    if (known != GetTags().end() && IsObserver(object, known->second))
    {
      return;
    }
    GetTags()[&object] = object.AddObserver(DeleteEvent(), New().GetPointer());
  }

  void
  Execute(Object * caller, const EventObject & event) override
  {
    this->Execute(const_cast<const Object *>(caller), event);
  }
  void
  Execute(const Object * caller, const EventObject &) override
  {
    {
      const std::lock_guard<gpureg::ForkSafeMutex> lock(GetMutex());
      GetTags().erase(caller);
    }
    gpureg::DropIdleEngines(caller);
  }

private:
  static bool
  IsObserver(const Object & object, unsigned long tag)
  {
    return dynamic_cast<const Self *>(const_cast<Object &>(object).GetCommand(tag)) != nullptr;
  }

  // Never deleted: an object may be the program's last.
  static gpureg::ForkSafeMutex &
  GetMutex()
  {
    static auto & mutex = *new gpureg::ForkSafeMutex;
    return mutex;
  }
  /** By which objects know their observers. */
  static std::map<const Object *, unsigned long> &
  GetTags()
  {
    static auto & tags = *new std::map<const Object *, unsigned long>;
    return tags;
  }
};
} // namespace

WithoutDevices::WithoutDevices()
  : m_Before(std::exchange(isWithoutDevices, true))
{}

WithoutDevices::~WithoutDevices()
{
  isWithoutDevices = m_Before;
}

bool
IsWithoutDevices()
{
  return isWithoutDevices;
}

void
ThrowGPUError(const gpureg::Error & error, const std::string & text)
{
  const std::string description = "ITK ERROR: " + text;
  ThrowIf<gpureg::OutOfMemoryError, GPUOutOfMemoryError>(error, description);
  ThrowIf<gpureg::DeviceLostError, GPUDeviceLostError>(error, description);
  ThrowIf<gpureg::BadInputError, GPUBadInputError>(error, description);
  ThrowIf<gpureg::UnsupportedError, GPUUnsupportedError>(error, description);
  throw GPUError(__FILE__, __LINE__, description, ITK_LOCATION);
}

void
DropIdleEnginesWith(const Object & object)
{
  EngineDropper::Observe(object);
}

std::string
NameObject(const Object & object)
{
  std::ostringstream name;
  name << object.GetNameOfClass() << " (" << &object << "): ";
  return name.str();
}

} // namespace GPURegistrationDetail
} // namespace itk
