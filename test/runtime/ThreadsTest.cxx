// SPDX-License-Identifier: Apache-2.0
// Tests MakeParallelFor with each of ITK's own threaders: each task runs once, for any number of tasks and threads; a task's exception
// reaches the caller.
#include "GPURegistrationDetail/core/itkGPURegistrationThreads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace gpuregtest
{

namespace
{
using itk::GPURegistrationDetail::MakeParallelFor;
using Threader = itk::MultiThreaderBase::ThreaderEnum;

class ThreadsTest : public ::testing::TestWithParam<Threader>
{
protected:
  void
  SetUp() override
  {
    itk::MultiThreaderBase::SetGlobalDefaultThreader(this->GetParam());
  }

  void
  TearDown() override
  {
    itk::MultiThreaderBase::SetGlobalDefaultThreader(m_Before);
  }

private:
  const Threader m_Before = itk::MultiThreaderBase::GetGlobalDefaultThreader();
};

std::string
GetThreaderName(const ::testing::TestParamInfo<Threader> & info)
{
  return info.param == Threader::Pool ? "Pool" : "Platform";
}

/** Waits for a condition that other threads change. Returns false if it is not met within a minute. */
template <typename TCondition>
bool
WaitFor(const TCondition & condition)
{
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition() && std::chrono::steady_clock::now() < end)
  {
    std::this_thread::yield();
  }
  return condition();
}

void
ExpectEachOnce(const gpureg::ParallelFor & parallelFor, std::int64_t count)
{
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
  std::atomic<int>              others{ 0 };
  parallelFor(count, [&](std::int64_t task) {
    if (task >= 0 && task < count)
    {
      ++calls[static_cast<std::size_t>(task)];
    }
    else
    {
      ++others;
    }
  });
  EXPECT_EQ(others, 0) << "of " << count;
  EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), count);
}

struct Failure : std::runtime_error
{
  explicit Failure(std::int64_t failed)
    : std::runtime_error("task " + std::to_string(failed))
    , task(failed)
  {}

  std::int64_t task;
};
} // namespace

TEST_P(ThreadsTest, EachTaskIsDoneOnce)
{
  for (const itk::ThreadIdType threads : { 1u, 2u, 3u, 4u, 7u, 16u })
  {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    const gpureg::ParallelFor parallelFor = MakeParallelFor(threads);
    for (const std::int64_t count : { 0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 15, 16, 17, 31, 97, 100, 1009, 20000 })
    {
      ExpectEachOnce(parallelFor, count);
    }
  }
}

TEST_P(ThreadsTest, OneThreadIsTheCallersOwn)
{
  std::vector<std::int64_t> tasks;
  const auto                caller = std::this_thread::get_id();
  MakeParallelFor(1)(5, [&](std::int64_t task) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    tasks.push_back(task);
  });
  EXPECT_EQ(tasks, (std::vector<std::int64_t>{ 0, 1, 2, 3, 4 }));
}

TEST_P(ThreadsTest, NoMoreThreadsThanAskedFor)
{
  for (const int threads : { 2, 3 })
  {
    std::atomic<int> running{ 0 }, most{ 0 };
    MakeParallelFor(static_cast<itk::ThreadIdType>(threads))(200, [&](std::int64_t) {
      const int now = ++running;
      for (int before = most; now > before && !most.compare_exchange_weak(before, now);)
      {}
      // A pool has at least two threads, including the caller's.
      EXPECT_TRUE(WaitFor([&most] { return most >= 2; }));
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      --running;
    });
    EXPECT_LE(most, threads);
  }
}

/** Tests that two threads begin with tasks that are far apart, so that they do not write to the same pages. */
TEST_P(ThreadsTest, ThreadsBeginFarFromEachOther)
{
  for (const std::int64_t count : { 2, 99, 100 })
  {
    std::atomic<int>                         begun{ 0 };
    std::array<std::atomic<std::int64_t>, 2> first{ -1, -1 };
    MakeParallelFor(2)(count, [&](std::int64_t task) {
      const int n = begun++;
      if (n < 2)
      {
        first[static_cast<std::size_t>(n)] = task;
        EXPECT_TRUE(WaitFor([&begun] { return begun >= 2; }));
      }
    });
    EXPECT_EQ(std::min<std::int64_t>(first[0], first[1]), 0);
    EXPECT_EQ(std::max<std::int64_t>(first[0], first[1]), (count + 1) / 2);
  }
}

TEST_P(ThreadsTest, WhileOneTaskLastsTheOthersAreDone)
{
  constexpr std::int64_t Count = 100;
  for (const std::int64_t longest : { 0, 1, 49, 50, 99 })
  {
    std::atomic<int> done{ 0 };
    bool             areDone = false;
    MakeParallelFor(2)(Count, [&](std::int64_t task) {
      if (task == longest)
      {
        areDone = WaitFor([&done] { return done == Count - 1; });
      }
      ++done;
    });
    EXPECT_TRUE(areDone) << "task " << longest << " made others wait";
    EXPECT_EQ(done, Count);
  }
}

TEST_P(ThreadsTest, WhatATaskThrowsReachesTheCaller)
{
  for (const itk::ThreadIdType threads : { 1u, 2u, 4u })
  {
    const gpureg::ParallelFor parallelFor = MakeParallelFor(threads);
    for (const std::int64_t count : { 1, 2, 3, 100 })
    {
      for (const std::int64_t failing : { std::int64_t{ 0 }, count / 2, count - 1 })
      {
        SCOPED_TRACE(std::to_string(threads) + " threads, task " + std::to_string(failing) + " of " +
                     std::to_string(count));
        std::atomic<int> running{ 0 };
        try
        {
          parallelFor(count, [&](std::int64_t task) {
            ++running;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
            --running;
            if (task == failing)
            {
              throw Failure(task);
            }
          });
          ADD_FAILURE() << "nothing was thrown";
        }
        catch (const Failure & failure)
        {
          EXPECT_EQ(failure.task, failing);
        }
        EXPECT_EQ(running, 0) << "tasks continue after the caller has returned";
        ExpectEachOnce(parallelFor, count);
      }
    }
  }
}

/** ITK's pool itself, as of 5.2, waits for its threads without checking for exceptions. */
TEST_P(ThreadsTest, WhatAnotherThreadThrowsReachesTheCaller)
{
  const auto                caller = std::this_thread::get_id();
  const gpureg::ParallelFor parallelFor = MakeParallelFor(2);
  std::atomic<bool>         isThrown{ false };
  EXPECT_THROW(parallelFor(100,
                           [&](std::int64_t task) {
                             if (std::this_thread::get_id() != caller)
                             {
                               isThrown = true;
                               throw Failure(task);
                             }
                             WaitFor([&isThrown] { return isThrown.load(); });
                           }),
               Failure);
  ExpectEachOnce(parallelFor, 100);
}

TEST_P(ThreadsTest, OfSeveralFailuresOneReachesTheCaller)
{
  const gpureg::ParallelFor parallelFor = MakeParallelFor(4);
  EXPECT_THROW(parallelFor(50, [](std::int64_t task) { throw Failure(task); }), Failure);
  ExpectEachOnce(parallelFor, 50);
}

TEST_P(ThreadsTest, AFailureEndsTheWork)
{
  std::atomic<bool> isThrown{ false };
  std::atomic<int>  done{ 0 };
  EXPECT_THROW(MakeParallelFor(2)(10000,
                                  [&](std::int64_t task) {
                                    if (task == 0)
                                    {
                                      isThrown = true;
                                      throw Failure(task);
                                    }
                                    WaitFor([&isThrown] { return isThrown.load(); });
                                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                    ++done;
                                  }),
               Failure);
  EXPECT_LT(done, 9999);
}

INSTANTIATE_TEST_SUITE_P(Threaders,
                         ThreadsTest,
                         ::testing::Values(Threader::Platform, Threader::Pool),
                         GetThreaderName);

} // namespace gpuregtest
