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
constexpr std::size_t TaskBytes = std::size_t{ 256 } << 10;

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

std::uint64_t
HashContent(const std::vector<MemoryRange> & memory, const ParallelFor & parallelFor)
{
  std::uint64_t hash = memory.size();
  for (const MemoryRange & range : memory)
  {
    const auto * const         bytes = static_cast<const char *>(range.begin);
    const std::size_t          tasks = (range.bytes + TaskBytes - 1) / TaskBytes;
    std::vector<std::uint64_t> hashes(tasks);
    const auto                 hashTask = [&](std::int64_t task) {
      const std::size_t begin = static_cast<std::size_t>(task) * TaskBytes;
      hashes[static_cast<std::size_t>(task)] = HashBytes(bytes + begin, std::min(TaskBytes, range.bytes - begin));
    };
    if (tasks == 1)
    {
      hashTask(0);
    }
    else if (tasks > 1)
    {
      parallelFor(static_cast<std::int64_t>(tasks), hashTask);
    }
    hash = Mix(hash, range.bytes);
    for (const std::uint64_t part : hashes)
    {
      hash = Mix(hash, part);
    }
  }
  return hash;
}

ResidentSource::Comparison
ResidentSource::Compare(const Source & source, const ParallelFor & parallelFor) const
{
  Comparison comparison;
  if (source.key.empty() || source.key != m_Key)
  {
    return comparison;
  }
  if (source.isKeyTrusted)
  {
    comparison.isSame = true;
  }
  else if (!source.memory.empty())
  {
    comparison.hash = HashContent(source.memory, parallelFor);
    comparison.isSame = comparison.hash == m_Hash;
  }
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
