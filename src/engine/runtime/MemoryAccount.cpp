// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/Backend.h"

#include <algorithm>

namespace gpureg
{

void
MemoryAccount::CheckLimit(std::size_t bytes, const std::string & deviceName) const
{
  const std::size_t held = inUse;
  const std::size_t allowed = limit;
  if (allowed != 0 && (held > allowed || bytes > allowed - held))
  {
    throw OutOfMemoryError("out of memory on " + deviceName + ": " + std::to_string(bytes) + " bytes asked for, " +
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
MemoryAccount::GetAvailableBytes(std::size_t bytes) const
{
  const std::size_t allowed = limit != 0 ? std::min<std::size_t>(limit, bytes) : bytes;
  const std::size_t held = inUse;
  return allowed > held ? allowed - held : 0;
}

} // namespace gpureg
