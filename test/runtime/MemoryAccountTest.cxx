// SPDX-License-Identifier: Apache-2.0
// Tests the limit of a process's memory on a device, also if several threads allocate at once. Needs no device.
#include "engine/runtime/Backend.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace
{
using namespace gpureg;

/** Returns true if a request was granted. */
bool
Charge(
  MemoryAccount & account, std::size_t bytes, const std::function<void()> & allocate = [] {})
{
  try
  {
    account.Allocate(bytes, "device", allocate);
    return true;
  }
  catch (const Error &)
  {
    return false;
  }
}
} // namespace

TEST(MemoryAccountTest, GrantsUpToTheLimit)
{
  MemoryAccount account;
  account.limit = 1000;
  EXPECT_TRUE(Charge(account, 600));
  EXPECT_FALSE(Charge(account, 401));
  EXPECT_FALSE(Charge(account, std::numeric_limits<std::size_t>::max()));
  EXPECT_EQ(account.inUse, 600u);
  EXPECT_TRUE(Charge(account, 400));
  EXPECT_FALSE(Charge(account, 1));
  account.limit = 500; // below what is held
  account.Release(400);
  EXPECT_FALSE(Charge(account, 1));
  account.limit = 0;
  EXPECT_TRUE(Charge(account, 5000));
  EXPECT_EQ(account.inUse, 5600u);
}

TEST(MemoryAccountTest, ASmallRequestIsGrantedWhileLargeOnesAreRefused)
{
  MemoryAccount account;
  account.limit = 1000;
  std::atomic<int>         granted{ 0 };
  std::atomic<int>         running{ 4 };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
  {
    threads.emplace_back([&] {
      for (int n = 0; n < 50000; ++n)
      {
        granted += Charge(account, 2000) ? 1 : 0;
      }
      --running;
    });
  }
  int refused = 0;
  while (running > 0)
  {
    if (Charge(account, 10))
    {
      account.Release(10);
    }
    else
    {
      ++refused;
    }
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(granted, 0);
  EXPECT_EQ(account.inUse, 0u);
}

/** Also without a limit: a request that the driver refuses is never counted, whatever other threads see meanwhile. */
TEST(MemoryAccountTest, WhatADriverRefusesIsNotCounted)
{
  MemoryAccount     account;
  const std::size_t size = 1000; // of the device
  std::atomic<bool> isRefusing{ false };
  std::atomic<bool> isSeen{ false };
  std::thread       large([&] {
    EXPECT_FALSE(Charge(account, 5000, [&] {
      isRefusing = true;
      while (!isSeen)
      {
        std::this_thread::yield();
      }
      throw OutOfMemoryError("refused");
    }));
  });
  while (!isRefusing)
  {
    std::this_thread::yield();
  }
  EXPECT_EQ(account.GetAvailableBytes(size), size);
  isSeen = true;
  EXPECT_TRUE(Charge(account, 10));
  large.join();
  EXPECT_EQ(account.GetAvailableBytes(size), size - 10);
}

TEST(MemoryAccountTest, ThreadsTogetherStayWithinTheLimit)
{
  MemoryAccount account;
  account.limit = 1000;
  std::atomic<int>         tooMany{ 0 };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
  {
    threads.emplace_back([&] {
      for (int n = 0; n < 20000; ++n)
      {
        if (Charge(account, 400))
        {
          tooMany += account.inUse > 1000 ? 1 : 0;
          account.Release(400);
        }
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(tooMany, 0);
  EXPECT_EQ(account.inUse, 0u);
}
