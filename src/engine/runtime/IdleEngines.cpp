// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/IdleEngines.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpureg
{

namespace
{
bool
IsOfType(const Engine & engine, const std::type_info & type)
{
  return typeid(engine) == type;
}
} // namespace

std::unique_ptr<Engine>
IdleEngines::Take(const std::type_info & type, const Key & key, const void * user)
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  const auto                           find = [&](const auto & isWanted) {
    return std::find_if(m_Engines.begin(), m_Engines.end(), [&](const Idle & idle) {
      return IsOfType(*idle.engine, type) && isWanted(idle);
    });
  };
  auto found = key.empty() ? m_Engines.end() : find([&](const Idle & idle) { return idle.engine->Holds(key); });
  if (found == m_Engines.end())
  {
    found = find([&](const Idle & idle) { return idle.user == user; });
  }
  if (found == m_Engines.end() && m_Engines.size() >= MostEngines)
  {
    const auto last = std::find_if(m_Engines.rbegin(), m_Engines.rend(), [&](const Idle & idle) {
      return IsOfType(*idle.engine, type);
    });
    found = last == m_Engines.rend() ? m_Engines.end() : std::prev(last.base());
  }
  if (found == m_Engines.end())
  {
    return nullptr;
  }
  std::unique_ptr<Engine> engine = std::move(found->engine);
  m_Engines.erase(found);
  return engine;
}

void
IdleEngines::Keep(std::unique_ptr<Engine> engine, const void * user)
{
  const std::lock_guard<ForkSafeMutex> freeing(m_FreeingMutex);
  List                                 surplus;
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    // An engine that is too large to keep must not displace others.
    List & where = engine->GetHeldBytes() > m_Limit ? surplus : m_Engines;
    where.push_front({ std::move(engine), user });
    TakeSurplus(surplus);
  }
  Free(surplus);
}

void
IdleEngines::Drop(const void * user)
{
  const std::lock_guard<ForkSafeMutex> freeing(m_FreeingMutex);
  List                                 dropped;
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    for (auto idle = m_Engines.begin(); idle != m_Engines.end();)
    {
      const auto next = std::next(idle);
      if (idle->user == user)
      {
        dropped.splice(dropped.end(), m_Engines, idle);
      }
      idle = next;
    }
  }
  Free(dropped);
}

bool
IdleEngines::DropAll()
{
  const std::lock_guard<ForkSafeMutex> freeing(m_FreeingMutex);
  List                                 dropped;
  bool                                 heldMemory = false;
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    heldMemory = CountHeldBytes() > 0;
    dropped.swap(m_Engines);
  }
  Free(dropped);
  return heldMemory;
}

void
IdleEngines::SetLimit(std::size_t bytes)
{
  const std::lock_guard<ForkSafeMutex> freeing(m_FreeingMutex);
  List                                 surplus;
  {
    const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
    m_Limit = bytes;
    TakeSurplus(surplus);
  }
  Free(surplus);
}

std::size_t
IdleEngines::GetLimit() const
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  return m_Limit;
}

std::size_t
IdleEngines::GetHeldBytes() const
{
  const std::lock_guard<ForkSafeMutex> lock(m_Mutex);
  return CountHeldBytes();
}

std::size_t
IdleEngines::CountHeldBytes() const
{
  std::size_t bytes = 0;
  for (const Idle & idle : m_Engines)
  {
    bytes += idle.engine->GetHeldBytes();
  }
  return bytes;
}

void
IdleEngines::TakeSurplus(List & surplus)
{
  while (m_Engines.size() > MostEngines || CountHeldBytes() > m_Limit)
  {
    surplus.splice(surplus.end(), m_Engines, std::prev(m_Engines.end()));
  }
}

/** The caller holds m_FreeingMutex. */
void
IdleEngines::Free(List & list)
{
  if (!list.empty())
  {
    list.clear();
    ++m_Frees;
  }
}

} // namespace gpureg
