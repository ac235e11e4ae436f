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

/** Takes a word into a hash that is joined from others. */
inline std::uint64_t
JoinHash(std::uint64_t hash, std::uint64_t word)
{
  return kernels::MixHash(hash, word, kernels::HashMultiplier(0));
}

/** The hash of a task's bytes from its kernels::HashLanes states. */
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

/** Bytes of the task that begins at a range's byte. */
inline std::size_t
GetTaskBytes(const MemoryRange & range, std::size_t begin)
{
  return std::min<std::size_t>(range.bytes - begin, kernels::HashTaskBytes);
}

/** The hash of memory from those of its tasks, which next() gives in turn. */
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
