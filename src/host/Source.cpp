// SPDX-License-Identifier: Apache-2.0
#include "gpureg/Source.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpureg
{

namespace
{
constexpr std::size_t Lanes = 8;
// The digits of pi: each lane multiplies by other ones, all odd.
constexpr std::array<std::uint64_t, Lanes> Multipliers{ 0x243f6a8885a308d3u, 0x13198a2e03707345u, 0xa4093822299f31d1u,
                                                        0x082efa98ec4e6c89u, 0x452821e638d01377u, 0xbe5466cf34e90c6du,
                                                        0xc0ac29b7c97c50ddu, 0x3f84d5b5b5470917u };
// What a thread hashes at a time; less is not worth a second thread.
constexpr std::size_t TaskBytes = std::size_t{ 128 } << 10;

/** What one thread hashes. */
struct Task
{
  const char *  begin;
  std::size_t   bytes;
  std::uint64_t hash = 0;
};

/** Takes a word into a state: both halves of a product of 128 bits, so that every bit of the one depends on every bit of
 *  the other. */
std::uint64_t
Mix(std::uint64_t state, std::uint64_t word, std::uint64_t multiplier = Multipliers[0])
{
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(state ^ word) * multiplier;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/** Independent lanes, since a multiplication takes a few cycles. */
std::uint64_t
HashBytes(const char * bytes, std::size_t count)
{
  std::array<std::uint64_t, Lanes> states;
  for (std::size_t lane = 0; lane < Lanes; ++lane)
  {
    states[lane] = lane + 1;
  }
  std::array<std::uint64_t, Lanes> words;
  const auto                       mixWords = [&] {
    for (std::size_t lane = 0; lane < Lanes; ++lane)
    {
      states[lane] = Mix(states[lane], words[lane], Multipliers[lane]);
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
  std::uint64_t hash = count;
  for (const std::uint64_t state : states)
  {
    hash = Mix(hash, state);
  }
  return hash;
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
      for (std::size_t begin = 0; begin < range.bytes; begin += TaskBytes)
      {
        tasks.push_back({ static_cast<const char *>(range.begin) + begin, std::min(TaskBytes, range.bytes - begin) });
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
    std::uint64_t hash = memory->size();
    for (const MemoryRange & range : *memory)
    {
      hash = Mix(hash, range.bytes);
      for (std::size_t begin = 0; begin < range.bytes; begin += TaskBytes)
      {
        hash = Mix(hash, task++->hash);
      }
    }
    hashes.push_back(hash);
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
