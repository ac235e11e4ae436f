// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Key_h
#define gpureg_Key_h

#include "gpureg/core/Geometry.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace gpureg
{

/** What something was made from: objects' addresses and time stamps. What is on a device stays there for as long as
 *  it is asked for under the same key. Empty: not known, so that it goes up each time. */
using Key = std::vector<std::uintptr_t>;

/** All of its bits, where an address has fewer as well. */
inline void
AddToKey(Key & key, double value)
{
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  key.push_back(static_cast<std::uintptr_t>(bits));
  key.push_back(static_cast<std::uintptr_t>(bits >> 32));
}

inline void
AddToKey(Key & key, const IndexMap & map)
{
  for (const double value : map.matrix)
  {
    AddToKey(key, value);
  }
  for (const double value : map.offset)
  {
    AddToKey(key, value);
  }
}

} // namespace gpureg

#endif
