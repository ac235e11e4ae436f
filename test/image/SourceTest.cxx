// SPDX-License-Identifier: Apache-2.0
// Tests the check whether the host's memory still equals what was uploaded to a device. Needs no device.
#include "gpureg/image/Source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace
{
using namespace gpureg;

const ParallelFor InOrder = [](std::int64_t count, const std::function<void(std::int64_t)> & body) {
  for (std::int64_t n = 0; n < count; ++n)
  {
    body(n);
  }
};

const ParallelFor Backwards = [](std::int64_t count, const std::function<void(std::int64_t)> & body) {
  for (std::int64_t n = count; n-- > 0;)
  {
    body(n);
  }
};

template <typename T>
std::uint64_t
Hash(const std::vector<T> & values, const ParallelFor & parallelFor = InOrder)
{
  return HashContent({ { values.data(), values.size() * sizeof(T) } }, parallelFor);
}

std::vector<std::uint64_t>
DrawWords(std::size_t count, std::uint64_t seed)
{
  std::mt19937_64            random(seed);
  std::vector<std::uint64_t> words(count);
  for (std::uint64_t & word : words)
  {
    word = random();
  }
  return words;
}
} // namespace

TEST(HashContent, EveryBitShows)
{
  for (const std::size_t words : { 1, 7, 8, 9, 40 })
  {
    std::vector<std::uint64_t> content(words, 0);
    const std::uint64_t        before = Hash(content);
    for (std::size_t bit = 0; bit < 64 * words; ++bit)
    {
      content[bit / 64] ^= std::uint64_t{ 1 } << bit % 64;
      EXPECT_NE(Hash(content), before) << "bit " << bit << " of " << words << " words";
      content[bit / 64] ^= std::uint64_t{ 1 } << bit % 64;
    }
  }
}

/** Pairs of changes, one of which might undo the other: each bit of a word with each bit of every later word. */
TEST(HashContent, EveryPairOfBitsShows)
{
  std::vector<std::uint64_t> content = DrawWords(24, 1);
  const std::uint64_t        before = Hash(content);
  std::size_t                missed = 0;
  for (std::size_t other = 1; other < content.size(); ++other)
  {
    for (int a = 0; a < 64; ++a)
    {
      content[0] ^= std::uint64_t{ 1 } << a;
      for (int b = 0; b < 64; ++b)
      {
        content[other] ^= std::uint64_t{ 1 } << b;
        missed += Hash(content) == before;
        content[other] ^= std::uint64_t{ 1 } << b;
      }
      content[0] ^= std::uint64_t{ 1 } << a;
    }
  }
  EXPECT_EQ(missed, 0u);
}

/** Two voxels of type short anywhere that change, and two floats that change their sign. */
TEST(HashContent, TwoVoxelsThatChangeShow)
{
  std::mt19937_64            random(2);
  std::vector<std::uint16_t> shorts(256);
  std::vector<float>         floats(128);
  for (std::uint16_t & voxel : shorts)
  {
    voxel = static_cast<std::uint16_t>(random() % 4096);
  }
  for (float & voxel : floats)
  {
    voxel = static_cast<float>(random() % 4096) / 16.0f + 1.0f;
  }
  const std::uint64_t ofShorts = Hash(shorts);
  const std::uint64_t ofFloats = Hash(floats);
  std::size_t         missed = 0;
  for (int n = 0; n < 300000; ++n)
  {
    std::uint16_t &     a = shorts[random() % 128];
    std::uint16_t &     b = shorts[128 + random() % 128];
    const std::uint16_t wasA = a;
    const std::uint16_t wasB = b;
    a = static_cast<std::uint16_t>((a + 1 + random() % 4095) % 4096);
    b = static_cast<std::uint16_t>((b + 1 + random() % 4095) % 4096);
    missed += Hash(shorts) == ofShorts;
    a = wasA;
    b = wasB;
  }
  for (std::size_t a = 0; a < floats.size(); ++a)
  {
    for (std::size_t b = a + 1; b < floats.size(); ++b)
    {
      floats[a] = -floats[a];
      floats[b] = -floats[b];
      missed += Hash(floats) == ofFloats;
      floats[a] = -floats[a];
      floats[b] = -floats[b];
    }
  }
  EXPECT_EQ(missed, 0u);
}

TEST(HashContent, WhereRangesEndShows)
{
  const std::vector<std::uint64_t> content(32, 0);
  const auto                       hash = [&content](std::size_t first, std::size_t second) {
    return HashContent({ { content.data(), first }, { content.data(), second } }, InOrder);
  };
  EXPECT_NE(hash(64, 64), hash(63, 65));
  EXPECT_NE(hash(128, 0), hash(64, 64));
  EXPECT_NE(hash(128, 0), HashContent({ { content.data(), 128 } }, InOrder));
  EXPECT_NE(hash(1, 0), hash(2, 0));
}

/** The hash is computed in tasks, whose number depends on the size alone, and which are combined in order. */
TEST(HashContent, IsTheSameInAnyOrder)
{
  auto                content = DrawWords(200000, 3);
  const std::uint64_t before = Hash(content);
  EXPECT_EQ(Hash(content, Backwards), before);
  std::swap_ranges(content.begin(), content.begin() + 32768, content.begin() + 32768);
  EXPECT_NE(Hash(content), before);
}

TEST(ResidentSource, AKeyIsTrustedOrTheMemoryProvesIt)
{
  std::vector<std::uint64_t> content = DrawWords(100, 4);
  Source                     source;
  source.key = { 1, 2 };
  source.memory = { { content.data(), content.size() * sizeof(content[0]) } };
  ResidentSource resident;
  const auto     useIt = [&] {
    const auto compared = resident.Compare(source, InOrder);
    resident.Remember(source, compared);
    return compared.isSame;
  };
  EXPECT_FALSE(useIt());
  EXPECT_TRUE(useIt());
  content[50] ^= 1;
  EXPECT_TRUE(useIt()) << "a trusted key needs no proof";

  source.isKeyTrusted = false;
  resident.Forget();
  EXPECT_FALSE(useIt());
  EXPECT_FALSE(useIt()) << "hashed for the first time";
  EXPECT_TRUE(useIt());
  content[50] ^= 1;
  EXPECT_FALSE(useIt());
  EXPECT_TRUE(useIt());
  source.key = { 1, 3 };
  EXPECT_FALSE(useIt());

  source.isKeyTrusted = true;
  source.key = {};
  EXPECT_FALSE(useIt());
  EXPECT_FALSE(useIt()) << "a source without a key";
}
