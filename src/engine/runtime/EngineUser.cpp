// SPDX-License-Identifier: Apache-2.0
#include "gpureg/runtime/EngineUser.h"

#include "engine/runtime/Backend.h"

#include <utility>

namespace gpureg
{

Engine::~Engine() = default;

bool
Engine::Holds(const Key &) const
{
  return false;
}

std::unique_ptr<Engine>
TakeIdleEngine(const std::string & deviceName, const std::type_info & type, const Key & key, const void * user)
{
  return GetBackend(deviceName)->GetIdleEngines().Take(type, key, user);
}

void
StoreIdleEngine(std::unique_ptr<Engine> engine, const void * user)
{
  IdleEngines & idle = GetBackend(engine->GetDeviceName())->GetIdleEngines();
  idle.Keep(std::move(engine), user);
}

void
DropIdleEngines(const void * user) noexcept
{
  ForEachFoundBackend([user](Backend & backend) { backend.GetIdleEngines().Drop(user); });
}

} // namespace gpureg
