// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/TeamRoom.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
/** Returns the numbers of the engines on each device, by its name. */
std::map<std::string, std::vector<std::size_t>>
GroupByDevice(const std::vector<std::string> & devices)
{
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t n = 0; n < devices.size(); ++n)
  {
    groups[devices[n]].push_back(n);
  }
  return groups;
}

/** Plans what engines hold together: without levels and arrays, and with those changes that every engine's plan has. */
MemoryPlan
SumPlans(const std::vector<MemoryPlan> & plans, const std::vector<std::size_t> & numbers)
{
  MemoryPlan sum;
  for (const std::size_t n : numbers)
  {
    sum.images += plans[n].images;
    sum.bytes += plans[n].bytes;
  }
  for (const PlannedChange & change : plans[numbers.front()].changes)
  {
    PlannedChange all{ change.what, 0 };
    const bool    isInEach = std::all_of(numbers.begin(), numbers.end(), [&](std::size_t n) {
      const auto & its = plans[n].changes;
      const auto   same =
        std::find_if(its.begin(), its.end(), [&](const PlannedChange & one) { return one.what == change.what; });
      all.bytes += same != its.end() ? same->bytes : 0;
      return same != its.end();
    });
    if (isInEach)
    {
      sum.changes.push_back(all);
    }
  }
  return sum;
}

/** Names a device for errors about parts that are on it together. */
std::string
NameShared(const std::string & device, std::size_t parts)
{
  return device + ", which has " + std::to_string(parts) + " parts";
}
} // namespace

SharedRoom::SharedRoom(std::vector<std::string> devices)
  : m_Devices(std::move(devices))
  , m_Team(m_Devices.size())
  , m_Plans(m_Devices.size())
{}

void
SharedRoom::MakeRoom(std::size_t                         engine,
                     bool                                holdsMore,
                     const std::function<MemoryPlan()> & makePlan,
                     const std::function<void()> &       release)
{
  TeamMember member(m_Team, static_cast<int>(engine));
  const auto isTrueOfAny = [&member](bool its) { return member.FindLargest(its ? 1 : 0) > 0; };
  const auto wait = [&isTrueOfAny] { isTrueOfAny(false); };
  if (!isTrueOfAny(holdsMore))
  {
    return;
  }
  m_Plans[engine] = makePlan();
  wait();
  const std::string &            device = m_Devices[engine];
  const std::vector<std::size_t> numbers = GroupByDevice(m_Devices)[device];
  const MemoryPlan               together = SumPlans(m_Plans, numbers);
  if (!isTrueOfAny(together.bytes - together.images > GetAvailableMemory(device)))
  {
    return;
  }
  release();
  wait();
  CheckFits(together,
            numbers.size() > 1 ? NameShared(device, numbers.size()) : device,
            together.images + GetAvailableMemory(device));
  // Until all have looked, nobody allocates.
  wait();
}

std::vector<std::string>
ListDevices(const TeamEngines & engines)
{
  std::vector<std::string> devices;
  for (const auto & engine : engines)
  {
    devices.push_back(engine->GetDeviceName());
  }
  return devices;
}

bool
AreShared(const std::vector<std::string> & devices)
{
  return GroupByDevice(devices).size() < devices.size();
}

void
MakeRoomTogether(TeamEngines & engines, const std::vector<MemoryPlan> & plans, ImagesAre images)
{
  for (const auto & [device, numbers] : GroupByDevice(ListDevices(engines)))
  {
    const MemoryPlan  together = SumPlans(plans, numbers);
    const std::size_t there = images == ImagesAre::OnDevice ? together.images : 0;
    if (numbers.size() == 1 || together.bytes - there <= GetAvailableMemory(device))
    {
      continue;
    }
    for (const std::size_t n : numbers)
    {
      engines[n] = std::make_unique<DiffeomorphicRegistration>(device);
    }
    CheckFits(together, NameShared(device, numbers.size()), there + GetAvailableMemory(device));
  }
}

} // namespace gpureg
