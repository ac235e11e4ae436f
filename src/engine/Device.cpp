// SPDX-License-Identifier: Apache-2.0
#include "gpureg/Device.h"

#include "Backend.h"

#include <algorithm>

namespace gpureg
{

namespace
{
/** Found once: the kinds of device that this build knows, best first. */
const BackendList &
FindBackends()
{
  static const BackendList found = [] {
    BackendList list;
    for (auto find : {
#ifdef GPUREG_USE_CUDA
           &FindCudaBackends,
#endif
#ifdef GPUREG_USE_OPENCL
           &FindOpenCLBackends,
#endif
           &FindHostBackends })
    {
      BackendList more = find();
      list.backends.insert(list.backends.end(), more.backends.begin(), more.backends.end());
      list.complaints.insert(list.complaints.end(), more.complaints.begin(), more.complaints.end());
    }
    std::stable_sort(list.backends.begin(), list.backends.end(), [](const auto & a, const auto & b) {
      return a->GetRank() < b->GetRank();
    });
    return list;
  }();
  return found;
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
  std::string message = "there is no device \"" + deviceName + "\"; there are: " + Join(names, ", ");
  if (!FindBackends().complaints.empty())
  {
    message += " (" + Join(FindBackends().complaints, "; ") + ")";
  }
  throw Error(message);
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

void
MemoryAccount::Charge(std::size_t bytes, const std::string & deviceName)
{
  const std::size_t held = inUse.fetch_add(bytes);
  const std::size_t allowed = limit;
  if (allowed != 0 && held + bytes > allowed)
  {
    inUse -= bytes;
    throw Error("out of memory on " + deviceName + ": " + std::to_string(bytes) + " bytes asked for, " +
                std::to_string(held) + " held, and the limit set is " + std::to_string(allowed) +
                "; raise the limit, use smaller images or another device");
  }
}

void
MemoryAccount::Release(std::size_t bytes)
{
  inUse -= bytes;
}

std::size_t
MemoryAccount::GetRoom(std::size_t bytes) const
{
  const std::size_t allowed = limit != 0 ? std::min<std::size_t>(limit, bytes) : bytes;
  const std::size_t held = inUse;
  return allowed > held ? allowed - held : 0;
}

} // namespace gpureg
