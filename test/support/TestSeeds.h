// SPDX-License-Identifier: Apache-2.0
// Seeds of random cases: printed, and repeated or extended by GPUREG_TEST_SEED and GPUREG_TEST_CASES.
#ifndef TestSeeds_h
#define TestSeeds_h

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gpuregtest
{

inline std::uint64_t
GetNumberFromEnvironment(const char * name, std::uint64_t otherwise)
{
  const char * const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/** The first seed, and the number of cases. */
struct Seeds
{
  std::uint64_t first;
  std::uint64_t count;
};

/** Returns the seeds that the environment demands, or these, and prints them. */
inline Seeds
GetSeeds(std::uint64_t first, std::uint64_t count)
{
  const Seeds seeds{ GetNumberFromEnvironment("GPUREG_TEST_SEED", first),
                     GetNumberFromEnvironment("GPUREG_TEST_CASES", count) };
  std::cout << "GPUREG_TEST_SEED=" << seeds.first << " GPUREG_TEST_CASES=" << seeds.count << std::endl;
  return seeds;
}

/** Calls work(), and adds the seed to the messages of its failures. Returns the failures. */
template <typename TWork>
std::vector<::testing::TestPartResult>
FindFailures(std::uint64_t seed, const TWork & work)
{
  ::testing::TestPartResultArray results;
  {
    using Reporter = ::testing::ScopedFakeTestPartResultReporter;
    const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    SCOPED_TRACE("GPUREG_TEST_SEED=" + std::to_string(seed) + " GPUREG_TEST_CASES=1");
    try
    {
      work(seed);
    }
    catch (const std::exception & error)
    {
      ADD_FAILURE() << error.what();
    }
  }
  std::vector<::testing::TestPartResult> failures;
  for (int part = 0; part < results.size(); ++part)
  {
    if (results.GetTestPartResult(part).failed())
    {
      failures.push_back(results.GetTestPartResult(part));
    }
  }
  return failures;
}

/** Calls work(seed) for each seed, until a failure is fatal, on a number of threads at once. Prints the number of cases and the failed
 *  ones, for tools/run-fuzz.sh. Returns the number of cases. */
template <typename TWork>
std::uint64_t
ForEachSeed(std::uint64_t first, std::uint64_t count, const TWork & work, std::uint64_t threadCount = 1)
{
  const Seeds                seeds = GetSeeds(first, count);
  std::mutex                 mutex;
  std::vector<std::uint64_t> failed;
  std::uint64_t              begun = 0;
  bool                       goesOn = true;
  const auto                 runCases = [&](std::uint64_t end) {
    for (std::unique_lock<std::mutex> lock(mutex); begun < end && goesOn;)
    {
      const std::uint64_t seed = seeds.first + begun++;
      lock.unlock();
      const auto failures = FindFailures(seed, work);
      lock.lock();
      for (const ::testing::TestPartResult & failure : failures)
      {
        goesOn = goesOn && !failure.fatally_failed();
        ADD_FAILURE_AT(failure.file_name(), failure.line_number()) << failure.message();
      }
      if (!failures.empty())
      {
        failed.push_back(seed);
      }
    }
  };
  // The first case runs alone: ITK's global objects are made at their first use, without protection against other threads.
  runCases(std::min<std::uint64_t>(1, seeds.count));
  std::vector<std::thread> others;
  for (std::uint64_t n = 1; n < threadCount; ++n)
  {
    others.emplace_back(runCases, seeds.count);
  }
  runCases(seeds.count);
  for (std::thread & other : others)
  {
    other.join();
  }
  std::cout << "ran " << begun << " cases, " << failed.size() << " failed:";
  for (const std::uint64_t seed : failed)
  {
    std::cout << ' ' << seed;
  }
  std::cout << std::endl;
  return begun;
}

/** Returns the number of threads that GPUREG_TEST_THREADS demands, for cases that do not change the state of the whole process. */
inline std::uint64_t
GetCaseThreads()
{
  return GetNumberFromEnvironment("GPUREG_TEST_THREADS", 1);
}

} // namespace gpuregtest

#endif
