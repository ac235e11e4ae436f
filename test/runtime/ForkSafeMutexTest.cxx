// SPDX-License-Identifier: Apache-2.0
// Tests a mutex that no child process finds locked by a thread that the child does not have. Needs no device.
#include "engine/runtime/Fork.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace
{
using namespace gpureg;

/** Returns true if a check holds in a child process, within a minute. */
template <typename TCheck>
bool
HoldsInChild(const TCheck & check)
{
  const pid_t child = fork();
  if (child == 0)
  {
    alarm(60);
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkSafeMutexTest, AForkWaitsForTheThreadThatHoldsIt)
{
  ForkSafeMutex     mutex;
  std::atomic<bool> isHeld{ false };
  std::atomic<bool> isGivenBack{ false };
  std::thread       holder([&] {
    mutex.lock();
    isHeld = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    isGivenBack = true;
    mutex.unlock();
  });
  while (!isHeld)
  {
    std::this_thread::yield();
  }
  EXPECT_TRUE(HoldsInChild([&] { return isGivenBack && mutex.try_lock(); }));
  holder.join();
  EXPECT_TRUE(mutex.try_lock()) << "the parent found it unlocked, too";
  mutex.unlock();
}

TEST(ForkSafeMutexTest, AThreadThatHoldsItMayFork)
{
  ForkSafeMutex mutex;
  mutex.lock();
  EXPECT_TRUE(HoldsInChild([&] {
    const bool isStillHeld = mutex.IsHeldByThisThread();
    mutex.unlock();
    return isStillHeld && mutex.try_lock();
  }));
  EXPECT_TRUE(mutex.IsHeldByThisThread());
  mutex.unlock();
}

/** A thread that holds one mutex may be about to lock another: a fork waits for all or none. */
TEST(ForkSafeMutexTest, ForksBesideThreadsThatHoldSeveral)
{
  ForkSafeMutex     first;
  ForkSafeMutex     second;
  std::atomic<bool> goesOn{ true };
  const auto        takeBoth = [&](ForkSafeMutex & one, ForkSafeMutex & other) {
    while (goesOn)
    {
      const std::scoped_lock<ForkSafeMutex, ForkSafeMutex> lock(one, other);
      const ForkSafeMutex                                  another;
    }
  };
  std::thread oneWay([&] { takeBoth(first, second); });
  std::thread otherWay([&] { takeBoth(second, first); });
  for (int n = 0; n < 50; ++n)
  {
    EXPECT_TRUE(HoldsInChild([&] { return first.try_lock() && second.try_lock(); }));
  }
  goesOn = false;
  oneWay.join();
  otherWay.join();
}

TEST(ForkSafeMutexTest, AChildCountsItsFork)
{
  const unsigned int count = GetForkCount();
  EXPECT_TRUE(HoldsInChild([&] { return GetForkCount() == count + 1; }));
  EXPECT_EQ(GetForkCount(), count);
}
} // namespace
