// SPDX-License-Identifier: Apache-2.0
// Tests the pinned memory that the queues of a device share: what it lends, keeps and frees, and that it stays within its limit.
#include "engine/runtime/StagingPool.h"

#include "gpureg/core/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace gpuregtest
{
namespace
{
using gpureg::StagingPointer;
using gpureg::StagingPool;

constexpr std::size_t MiB = std::size_t{ 1 } << 20;

/** Stands for pinned memory, and counts its objects. */
class CountedStaging : public gpureg::Staging
{
public:
  CountedStaging(std::size_t size, std::size_t & total)
    : Staging(size)
    , m_Memory(size)
    , m_Total(total)
  {
    m_Total += size;
  }
  ~CountedStaging() override
  {
    m_Total -= GetSize();
  }
  void *
  GetAddress() const override
  {
    return m_Memory.GetAddress();
  }

private:
  gpureg::OrdinaryStaging m_Memory;
  std::size_t &           m_Total;
};

class StagingPoolTest : public ::testing::Test
{
protected:
  std::size_t total = 0;
  bool        isOut = false;
  StagingPool pool{ [this](std::size_t size) -> StagingPointer {
    if (isOut)
    {
      throw gpureg::OutOfMemoryError("none is left");
    }
    return std::make_unique<CountedStaging>(size, total);
  } };

  bool
  IsPinned(const StagingPointer & staging) const
  {
    return dynamic_cast<const CountedStaging *>(staging.get()) != nullptr;
  }
};

TEST_F(StagingPoolTest, WhatIsGivenBackIsHandedOutAgain)
{
  StagingPool::Taken first = pool.Take(100000);
  const void * const address = first.memory->GetAddress();
  EXPECT_TRUE(first.isNew);
  EXPECT_GE(first.memory->GetSize(), 100000u);
  pool.GiveBack(std::move(first.memory));
  const StagingPool::Taken second = pool.Take(90000);
  EXPECT_FALSE(second.isNew);
  EXPECT_EQ(second.memory->GetAddress(), address);
}

TEST_F(StagingPoolTest, IsOfAtLeastTheSizeThatIsAskedFor)
{
  for (const std::size_t bytes : { std::size_t{ 1 }, 65536 + std::size_t{ 1 }, 16 * MiB, 16 * MiB + 1, 100 * MiB })
  {
    const StagingPool::Taken taken = pool.Take(bytes);
    EXPECT_GE(taken.memory->GetSize(), bytes);
    EXPECT_LE(taken.memory->GetSize(), std::max<std::size_t>(65536, bytes + std::min(bytes, 16 * MiB)));
  }
}

TEST_F(StagingPoolTest, BeyondItsLimitItHandsOutOrdinaryMemory)
{
  pool.SetLimit(4 * MiB);
  std::vector<StagingPointer> taken;
  for (int n = 0; n < 4; ++n)
  {
    taken.push_back(pool.Take(2 * MiB).memory);
    EXPECT_EQ(IsPinned(taken.back()), n < 2);
    EXPECT_LE(pool.GetPinnedBytes(), 4 * MiB);
    EXPECT_EQ(pool.GetPinnedBytes(), total);
  }
  for (StagingPointer & staging : taken)
  {
    pool.GiveBack(std::move(staging));
  }
  EXPECT_EQ(pool.GetPinnedBytes(), 4 * MiB);
  EXPECT_EQ(total, 4 * MiB);
}

TEST_F(StagingPoolTest, WaitingMemoryIsFreedForAnotherSize)
{
  pool.SetLimit(4 * MiB);
  pool.GiveBack(pool.Take(2 * MiB).memory);
  pool.GiveBack(pool.Take(1 * MiB).memory);
  EXPECT_EQ(total, 3 * MiB);
  const StagingPointer large = pool.Take(4 * MiB).memory;
  EXPECT_TRUE(IsPinned(large));
  EXPECT_EQ(total, 4 * MiB);
}

TEST_F(StagingPoolTest, TheOldestIsFreedAndNoMoreThanTheLimitDemands)
{
  pool.SetLimit(5 * MiB);
  StagingPointer oldest = pool.Take(1 * MiB).memory;
  StagingPointer latest = pool.Take(MiB / 2).memory;
  pool.GiveBack(std::move(oldest));
  pool.GiveBack(std::move(latest));
  const StagingPointer large = pool.Take(4 * MiB).memory;
  EXPECT_TRUE(IsPinned(large));
  EXPECT_EQ(total, 9 * MiB / 2);
  EXPECT_EQ(pool.GetPinnedBytes(), total);
  const StagingPool::Taken again = pool.Take(MiB / 2);
  EXPECT_FALSE(again.isNew);
  // The limit itself is within the limit.
  const StagingPointer last = pool.Take(MiB / 2).memory;
  EXPECT_TRUE(IsPinned(last));
  EXPECT_EQ(pool.GetPinnedBytes(), 5 * MiB);
}

TEST_F(StagingPoolTest, ALowerLimitFreesWhatWaits)
{
  pool.GiveBack(pool.Take(8 * MiB).memory);
  StagingPointer taken = pool.Take(2 * MiB).memory;
  pool.SetLimit(1 * MiB);
  EXPECT_EQ(total, 2 * MiB) << "values that were taken do not change";
  pool.GiveBack(std::move(taken));
  EXPECT_EQ(total, 0u);
  EXPECT_EQ(pool.GetPinnedBytes(), 0u);
}

TEST_F(StagingPoolTest, WithoutPinnedMemoryThereIsOrdinaryMemory)
{
  isOut = true;
  const StagingPointer staging = pool.Take(1 * MiB).memory;
  ASSERT_NE(staging, nullptr);
  EXPECT_FALSE(IsPinned(staging));
  EXPECT_EQ(pool.GetPinnedBytes(), 0u);
}

TEST_F(StagingPoolTest, WhatIsDiscardedIsFreed)
{
  pool.Discard(pool.Take(1 * MiB).memory);
  pool.Discard(nullptr);
  EXPECT_EQ(total, 0u);
  pool.GiveBack(pool.Take(1 * MiB).memory);
  pool.Drop();
  EXPECT_EQ(total, 0u);
  EXPECT_EQ(pool.GetPinnedBytes(), 0u);
}

/** Stands for pinned memory, and counts its bytes. */
class TotalledStaging : public gpureg::OrdinaryStaging
{
public:
  explicit TotalledStaging(std::size_t size)
    : OrdinaryStaging(size)
  {
    bytes += size;
  }
  ~TotalledStaging() override
  {
    bytes -= GetSize();
  }

  inline static std::atomic<std::size_t> bytes{ 0 };
};

TEST(StagingPoolThreads, StayWithinTheLimitTogether)
{
  StagingPool              pool([](std::size_t size) { return std::make_unique<TotalledStaging>(size); });
  std::vector<std::thread> threads;
  std::atomic<bool>        isWithin{ true };
  pool.SetLimit(3 * MiB);
  for (int t = 0; t < 4; ++t)
  {
    threads.emplace_back([&] {
      for (std::size_t n = 1; n < 200; ++n)
      {
        StagingPointer staging = pool.Take(n % 5 * MiB / 2 + 1).memory;
        static_cast<char *>(staging->GetAddress())[0] = 1;
        isWithin = isWithin && pool.GetPinnedBytes() <= 3 * MiB && TotalledStaging::bytes <= 3 * MiB;
        pool.GiveBack(std::move(staging));
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_TRUE(isWithin);
  EXPECT_EQ(pool.GetPinnedBytes(), TotalledStaging::bytes);
}

} // namespace
} // namespace gpuregtest
