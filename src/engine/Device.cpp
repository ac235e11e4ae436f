// SPDX-License-Identifier: Apache-2.0
#include "gpureg/Device.h"

#include "Backend.h"
#include "Fork.h"

#include <algorithm>
#include <initializer_list>
#include <mutex>
#include <utility>

namespace gpureg
{

namespace
{
BackendList
MakeList(std::initializer_list<BackendList (*)()> finders)
{
  BackendList list;
  for (const auto find : finders)
  {
    BackendList more = find();
    list.backends.insert(list.backends.end(), more.backends.begin(), more.backends.end());
    list.complaints.insert(list.complaints.end(), more.complaints.begin(), more.complaints.end());
  }
  std::stable_sort(list.backends.begin(), list.backends.end(), [](const auto & a, const auto & b) {
    return a->GetRank() < b->GetRank();
  });
  return list;
}

/** Found once: the kinds of device that this build knows, best first. In a child of the process that found them: the
 *  host. Never deleted, for what a device's driver holds goes with the process; in a child it must not be touched. */
const BackendList &
FindBackends()
{
  static auto &              mutex = *new ForkSafeMutex;
  static const BackendList * found = nullptr;
  static unsigned int        forkCount = 0;

  const std::lock_guard<ForkSafeMutex> lock(mutex);
  if (!found)
  {
    forkCount = GetForkCount();
    found = new BackendList(MakeList({
#ifdef GPUREG_USE_CUDA
      &FindCudaBackends,
#endif
#ifdef GPUREG_USE_OPENCL
      &FindOpenCLBackends,
#endif
      &FindHostBackends }));
  }
  else if (forkCount != GetForkCount())
  {
    forkCount = GetForkCount();
    BackendList host = MakeList({ &FindHostBackends });
    host.complaints.push_back(WhyNotInAChild);
    host.isOfChild = true;
    found = new BackendList(std::move(host));
  }
  return *found;
}

std::string
Join(const std::vector<std::string> & lines, const std::string & separator)
{
  std::string joined;
  for (const std::string & line : lines)
  {
    joined += (joined.empty() ? "" : separator) + line;
  }
  return joined;
}
} // namespace

std::vector<DeviceDescription>
GetAvailableDevices()
{
  std::vector<DeviceDescription> devices;
  for (const auto & backend : FindBackends().backends)
  {
    devices.push_back(backend->GetDescription());
  }
  return devices;
}

std::vector<std::string>
GetDeviceComplaints()
{
  return FindBackends().complaints;
}

bool
IsChildWithoutDevices()
{
  return FindBackends().isOfChild;
}

const std::vector<std::shared_ptr<Backend>> &
GetBackends()
{
  return FindBackends().backends;
}

std::shared_ptr<Backend>
GetBackend(const std::string & deviceName)
{
  std::vector<std::string> names;
  for (const auto & backend : FindBackends().backends)
  {
    if (backend->GetDescription().name == deviceName)
    {
      return backend;
    }
    names.push_back(backend->GetDescription().name);
  }
  if (FindBackends().isOfChild)
  {
    throw DeviceLostError(deviceName + ": " + WhyNotInAChild);
  }
  std::string message = "there is no device \"" + deviceName + "\"; there are: " + Join(names, ", ");
  if (!FindBackends().complaints.empty())
  {
    message += " (" + Join(FindBackends().complaints, "; ") + ")";
  }
  throw BadInputError(message);
}

void
SetMemoryLimit(const std::string & deviceName, std::size_t bytes)
{
  GetBackend(deviceName)->GetMemoryAccount().limit = bytes;
}

std::size_t
GetMemoryInUse(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetMemoryAccount().inUse;
}

std::size_t
GetMostMemoryInUse(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetMemoryAccount().mostInUse;
}

void
CountMostMemoryFromNow(const std::string & deviceName)
{
  MemoryAccount & account = GetBackend(deviceName)->GetMemoryAccount();
  account.mostInUse = account.inUse.load();
}

void
SetPinnedMemoryLimit(const std::string & deviceName, std::size_t bytes)
{
  GetBackend(deviceName)->GetStagingPool().SetLimit(bytes);
}

std::size_t
GetPinnedMemoryLimit(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetStagingPool().GetLimit();
}

std::size_t
GetPinnedMemoryInUse(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetStagingPool().GetPinnedBytes();
}

void
SetIdleMemoryLimit(const std::string & deviceName, std::size_t bytes)
{
  GetBackend(deviceName)->GetIdleEngines().SetLimit(bytes);
}

std::size_t
GetIdleMemoryLimit(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetIdleEngines().GetLimit();
}

std::size_t
GetIdleMemoryInUse(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetIdleEngines().GetHeldBytes();
}

void
ReleaseIdleMemory(const std::string & deviceName)
{
  GetBackend(deviceName)->GetIdleEngines().DropAll();
  GetBackend(deviceName)->GetStagingPool().Drop();
}

bool
HasDoubles(const std::string & deviceName)
{
  return GetBackend(deviceName)->HasDoubles();
}

} // namespace gpureg
