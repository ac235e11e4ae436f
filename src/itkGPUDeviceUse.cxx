// SPDX-License-Identifier: Apache-2.0
#include "GPURegistrationDetail/itkGPUDeviceUse.h"

#include "gpureg/EngineUser.h"

#include "Fork.h"

#include <mutex>
#include <set>
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
  // Those that an observer waits for. Never deleted: an object may be the program's last.
  static auto & mutex = *new gpureg::ForkSafeMutex;
  static auto & observed = *new std::set<const Object *>;
  {
    const std::lock_guard<gpureg::ForkSafeMutex> lock(mutex);
    if (!observed.insert(&object).second)
    {
      return;
    }
  }
  object.AddObserver(DeleteEvent(), [&object](const EventObject &) {
    {
      const std::lock_guard<gpureg::ForkSafeMutex> lock(mutex);
      observed.erase(&object);
    }
    gpureg::DropIdleEngines(&object);
  });
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
