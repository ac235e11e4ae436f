// SPDX-License-Identifier: Apache-2.0
#include "gpureg/runtime/Device.h"
#include "gpureg/runtime/HardwareId.h"

#include "engine/runtime/Backend.h"
#include "engine/runtime/Fork.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <utility>

namespace gpureg
{

namespace
{
/** Names the devices of one driver and the function that finds them. The driver is asked when one of its devices is first needed. */
struct Kind
{
  /** The part of a device's name before the colon. */
  const char * name;
  BackendList (*find)();
};

// The host comes last, because it works in a child process, too.
constexpr Kind kinds[] = {
#ifdef GPUREG_USE_CUDA
  { "cuda", &FindCudaBackends },
#endif
#ifdef GPUREG_USE_OPENCL
  { "opencl", &FindOpenCLBackends },
#endif
  { "host", &FindHostBackends }
};
constexpr std::size_t countOfKinds = sizeof(kinds) / sizeof(kinds[0]);
constexpr std::size_t hostKind = countOfKinds - 1;

bool
IsOfKind(const std::string & deviceName, const Kind & kind)
{
  return deviceName.substr(0, deviceName.find(':')) == kind.name;
}

/** Stores the devices that were found; each kind is searched once. A child of a process that had found devices other than the host has the
 *  host alone. Lists are never deleted: a driver's resources are freed with the process, and a child must not touch them. */
class FoundBackends
{
public:
  using Lists = std::array<const BackendList *, countOfKinds>;

  const BackendList &
  FindKind(std::size_t kind)
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    this->CheckFork();
    return this->Find(kind);
  }

  /** Returns the devices of all kinds, the best first. */
  const BackendList &
  FindAll()
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    this->CheckFork();
    if (!m_All)
    {
      auto all = std::make_unique<BackendList>();
      for (std::size_t kind = 0; kind < countOfKinds; ++kind)
      {
        const BackendList & more = this->Find(kind);
        all->backends.insert(all->backends.end(), more.backends.begin(), more.backends.end());
        all->complaints.insert(all->complaints.end(), more.complaints.begin(), more.complaints.end());
      }
      std::stable_sort(all->backends.begin(), all->backends.end(), [](const auto & a, const auto & b) {
        return a->GetRank() < b->GetRank();
      });
      m_All = all.release();
    }
    return *m_All;
  }

  /** Returns one list per kind, or null for a kind that has not been searched for. */
  Lists
  GetFound()
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    this->CheckFork();
    return m_Found;
  }

  bool
  IsOfChild()
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    this->CheckFork();
    return m_IsOfChild;
  }

private:
  void
  CheckFork()
  {
    if (m_ForkCount == GetForkCount())
    {
      return;
    }
    m_ForkCount = GetForkCount();
    if (std::all_of(m_Found.begin(), m_Found.begin() + hostKind, [](const auto list) { return list == nullptr; }))
    {
      return;
    }
    static const auto & none = *new BackendList;
    m_Found.fill(&none);
    auto host = std::make_unique<BackendList>(FindHostBackends());
    host->complaints.push_back(WhyNotInAChild);
    m_Found[hostKind] = host.release();
    m_All = nullptr;
    m_IsOfChild = true;
  }

  const BackendList &
  Find(std::size_t kind)
  {
    if (!m_Found[kind])
    {
      m_Found[kind] = new BackendList(kinds[kind].find());
    }
    return *m_Found[kind];
  }

  ForkSafeMutex       m_Mutex;
  unsigned int        m_ForkCount = GetForkCount();
  Lists               m_Found{};
  const BackendList * m_All = nullptr;
  bool                m_IsOfChild = false;
};

FoundBackends &
GetFoundBackends()
{
  static auto & found = *new FoundBackends;
  return found;
}

/** Returns the device of a name, or null if there is none. Asks only the driver that the name belongs to. */
std::shared_ptr<Backend>
FindBackend(const std::string & deviceName)
{
  for (std::size_t kind = 0; kind < countOfKinds; ++kind)
  {
    if (IsOfKind(deviceName, kinds[kind]))
    {
      for (const auto & backend : GetFoundBackends().FindKind(kind).backends)
      {
        if (backend->GetDescription().name == deviceName)
        {
          return backend;
        }
      }
    }
  }
  return nullptr;
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
  for (const auto & backend : GetFoundBackends().FindAll().backends)
  {
    devices.push_back(backend->GetDescription());
  }
  return devices;
}

std::optional<DeviceDescription>
FindDevice(const std::string & deviceName)
{
  const std::shared_ptr<Backend> backend = FindBackend(deviceName);
  return backend ? std::make_optional(backend->GetDescription()) : std::nullopt;
}

DeviceDescription
FindBestDevice()
{
  // Devices of the first kind are the best if that kind is CUDA; otherwise the ranks of all devices decide.
  const auto & first = GetFoundBackends().FindKind(0).backends;
  const bool   isBest = !first.empty() && first.front()->GetRank() == DeviceRank::Cuda;
  return (isBest ? first : GetFoundBackends().FindAll().backends).front()->GetDescription();
}

void
StartDevice(const std::string & deviceName)
{
  GetBackend(deviceName)->CreateQueue();
}

std::vector<std::string>
GetDeviceComplaints()
{
  return GetFoundBackends().FindAll().complaints;
}

bool
IsChildWithoutDevices()
{
  return GetFoundBackends().IsOfChild();
}

std::shared_ptr<Backend>
FindBackendThat(const std::function<bool(Backend &)> & isWanted)
{
  for (std::size_t kind = 0; kind < countOfKinds; ++kind)
  {
    for (const auto & backend : GetFoundBackends().FindKind(kind).backends)
    {
      if (isWanted(*backend))
      {
        return backend;
      }
    }
  }
  return nullptr;
}

void
ForEachFoundBackend(const std::function<void(Backend &)> & visit)
{
  for (const BackendList * const list : GetFoundBackends().GetFound())
  {
    if (list)
    {
      for (const auto & backend : list->backends)
      {
        visit(*backend);
      }
    }
  }
}

std::shared_ptr<Backend>
GetBackend(const std::string & deviceName)
{
  if (const std::shared_ptr<Backend> backend = FindBackend(deviceName))
  {
    return backend;
  }
  if (IsChildWithoutDevices())
  {
    throw DeviceLostError(deviceName + ": " + WhyNotInAChild);
  }
  const BackendList &      all = GetFoundBackends().FindAll();
  std::vector<std::string> names;
  for (const auto & backend : all.backends)
  {
    names.push_back(backend->GetDescription().name);
  }
  std::string message = "there is no device \"" + deviceName + "\"; there are: " + Join(names, ", ");
  if (!all.complaints.empty())
  {
    message += " (" + Join(all.complaints, "; ") + ")";
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

std::string
GetHardwareId(const std::string & deviceName)
{
  return GetBackend(deviceName)->GetHardwareId();
}

} // namespace gpureg
