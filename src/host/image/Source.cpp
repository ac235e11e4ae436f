// SPDX-License-Identifier: Apache-2.0
#include "gpureg/image/Source.h"

#include "engine/image/JoinHash.h"

#include <array>
#include <cstring>

namespace gpureg
{

namespace
{
using kernels::HashLanes;

/** The bytes that one thread hashes at a time, and their hash. */
struct Task
{
  const char *  begin;
  std::size_t   bytes;
  std::uint64_t hash = 0;
};

/** Hashes all lanes together, block by block; see kernels::HashLane. */
std::uint64_t
HashBytes(const char * bytes, std::size_t count)
{
  std::array<std::uint64_t, HashLanes> states;
  std::array<std::uint64_t, HashLanes> multipliers;
  for (int lane = 0; lane < HashLanes; ++lane)
  {
    const auto n = static_cast<std::size_t>(lane);
    states[n] = n + 1;
    multipliers[n] = kernels::HashMultiplier(lane);
  }
  std::array<std::uint64_t, HashLanes> words;
  static_assert(sizeof(words) == kernels::HashBlockBytes, "a block has a word for each lane");
  const auto mixWords = [&] {
    for (std::size_t lane = 0; lane < HashLanes; ++lane)
    {
      states[lane] = kernels::MixHash(states[lane], words[lane], multipliers[lane]);
    }
  };
  std::size_t done = 0;
  for (; done + sizeof(words) <= count; done += sizeof(words))
  {
    std::memcpy(words.data(), bytes + done, sizeof(words));
    mixWords();
  }
  if (done < count)
  {
    words.fill(0);
    std::memcpy(words.data(), bytes + done, count - done);
    mixWords();
  }
  return JoinLanes(count, states.data());
}
} // namespace

std::vector<std::uint64_t>
HashContents(const std::vector<const std::vector<MemoryRange> *> & memories, const ParallelFor & parallelFor)
{
  std::vector<Task> tasks;
  for (const auto * const memory : memories)
  {
    for (const MemoryRange & range : *memory)
    {
      for (std::size_t begin = 0; begin < range.bytes; begin += kernels::HashTaskBytes)
      {
        tasks.push_back({ static_cast<const char *>(range.begin) + begin, GetTaskBytes(range, begin) });
      }
    }
  }
  const auto hashTask = [&tasks](std::int64_t n) {
    Task & task = tasks[static_cast<std::size_t>(n)];
    task.hash = HashBytes(task.begin, task.bytes);
  };
  if (tasks.size() == 1)
  {
    hashTask(0);
  }
  else if (!tasks.empty())
  {
    parallelFor(static_cast<std::int64_t>(tasks.size()), hashTask);
  }

  std::vector<std::uint64_t> hashes;
  auto                       task = tasks.cbegin();
  for (const auto * const memory : memories)
  {
    hashes.push_back(JoinTasks(*memory, [&task](std::size_t) { return task++->hash; }));
  }
  return hashes;
}

std::uint64_t
HashContent(const std::vector<MemoryRange> & memory, const ParallelFor & parallelFor)
{
  return HashContents({ &memory }, parallelFor).front();
}

ResidentSource::Comparison
ResidentSource::Compare(const Source & source, const ParallelFor & parallelFor) const
{
  const bool isKeySame = !source.key.empty() && source.key == m_Key;
  if (isKeySame && !source.isKeyTrusted && !source.memory.empty())
  {
    return this->Compare(source, HashContent(source.memory, parallelFor));
  }
  Comparison comparison;
  comparison.isSame = isKeySame && source.isKeyTrusted;
  return comparison;
}

ResidentSource::Comparison
ResidentSource::Compare(const Source & source, std::uint64_t hash) const
{
  Comparison comparison;
  comparison.hash = hash;
  comparison.isSame = !source.key.empty() && source.key == m_Key && m_Hash == hash;
  return comparison;
}

void
ResidentSource::Remember(const Source & source, const Comparison & comparison)
{
  m_Key = source.key;
  m_Hash = comparison.hash;
}

void
ResidentSource::Forget()
{
  m_Key.clear();
  m_Hash.reset();
}

} // namespace gpureg
