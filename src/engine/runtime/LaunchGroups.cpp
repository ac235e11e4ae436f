// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/LaunchGroups.h"

#include "gpureg/core/Error.h"

#include <limits>
#include <string>

namespace gpureg
{

void
CheckGroupNumbers(const GroupNumbers & groups, const char * doing)
{
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  constexpr std::int64_t mostAcross = 65535;
  if (groups.x > most || groups.y > mostAcross || groups.z > mostAcross)
  {
    throw UnsupportedError(std::string(doing) + " would take " + std::to_string(groups.x) + " x " +
                           std::to_string(groups.y) + " x " + std::to_string(groups.z) +
                           " groups, and a device counts " + std::to_string(most) + " x " + std::to_string(mostAcross) +
                           " x " + std::to_string(mostAcross) + " at most; use smaller images or the host");
  }
}

} // namespace gpureg
