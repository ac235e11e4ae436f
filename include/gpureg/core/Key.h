// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Key_h
#define gpureg_Key_h

#include "gpureg/core/Geometry.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace gpureg
{

/** Identifies what something was made from, by objects' addresses and time stamps. A device reuses an array as long as it is requested
 *  under the same key. An empty key means that the source is unknown, so that the array is uploaded each time. */
using Key = std::vector<std::uintptr_t>;

/** Appends all bits of value to key, in two parts where an address has only 32 bits. */
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
