// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_JoinHash_h
#define gpureg_JoinHash_h

#include "kernels/core/Prelude.h"
#include "kernels/image/ContentHash.h"

#include "gpureg/image/Source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpureg
{

/** Returns a hash of a hash and a further word. */
inline std::uint64_t
JoinHash(std::uint64_t hash, std::uint64_t word)
{
  return kernels::MixHash(hash, word, kernels::HashMultiplier(0));
}

/** Returns the hash of a task's bytes, computed from its kernels::HashLanes states. */
inline std::uint64_t
JoinLanes(std::size_t bytes, const std::uint64_t * states)
{
  std::uint64_t hash = bytes;
  for (int lane = 0; lane < kernels::HashLanes; ++lane)
  {
    hash = JoinHash(hash, states[lane]);
  }
  return hash;
}

/** Returns how many bytes the task that begins at a byte of the range has. */
inline std::size_t
GetTaskBytes(const MemoryRange & range, std::size_t begin)
{
  return std::min<std::size_t>(range.bytes - begin, kernels::HashTaskBytes);
}

/** Returns the hash of memory. next(bytes) returns the hash of the next task, which has the given number of bytes. */
template <typename TNext>
std::uint64_t
JoinTasks(const std::vector<MemoryRange> & memory, const TNext & next)
{
  std::uint64_t hash = memory.size();
  for (const MemoryRange & range : memory)
  {
    hash = JoinHash(hash, range.bytes);
    for (std::size_t begin = 0; begin < range.bytes; begin += kernels::HashTaskBytes)
    {
      hash = JoinHash(hash, next(GetTaskBytes(range, begin)));
    }
  }
  return hash;
}

} // namespace gpureg

#endif
