// SPDX-License-Identifier: Apache-2.0
// Seeds of random cases: printed, and repeated or widened by GPUREG_TEST_SEED and GPUREG_TEST_CASES.
#ifndef TestSeeds_h
#define TestSeeds_h

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace gpuregtest
{

inline std::uint64_t
GetNumberFromEnvironment(const char * name, std::uint64_t otherwise)
{
  const char * const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/** Where random cases begin, and how many there are. */
struct Seeds
{
  std::uint64_t first;
  std::uint64_t count;
};

/** What the environment says, or this. Printed. */
inline Seeds
GetSeeds(std::uint64_t first, std::uint64_t count)
{
  const Seeds seeds{ GetNumberFromEnvironment("GPUREG_TEST_SEED", first),
                     GetNumberFromEnvironment("GPUREG_TEST_CASES", count) };
  std::cout << "GPUREG_TEST_SEED=" << seeds.first << " GPUREG_TEST_CASES=" << seeds.count << std::endl;
  return seeds;
}

/** What the running test has shown to be wrong so far. */
inline int
CountFailures()
{
  const ::testing::TestResult & result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
  int                           failures = 0;
  for (int part = 0; part < result.total_part_count(); ++part)
  {
    failures += result.GetTestPartResult(part).failed();
  }
  return failures;
}

/** Calls work(seed) for each of GetSeeds', until a failure is fatal. Says how many cases it ran and which failed:
 *  tools/run-fuzz.sh reads that. Returns how many. */
template <typename TWork>
std::uint64_t
ForEachSeed(std::uint64_t first, std::uint64_t count, const TWork & work)
{
  const Seeds                seeds = GetSeeds(first, count);
  std::vector<std::uint64_t> failed;
  std::uint64_t              n = 0;
  for (; n < seeds.count && !::testing::Test::HasFatalFailure(); ++n)
  {
    const std::uint64_t seed = seeds.first + n;
    SCOPED_TRACE("GPUREG_TEST_SEED=" + std::to_string(seed) + " GPUREG_TEST_CASES=1");
    const int before = CountFailures();
    work(seed);
    if (CountFailures() > before)
    {
      failed.push_back(seed);
    }
  }
  std::cout << "ran " << n << " cases, " << failed.size() << " failed:";
  for (const std::uint64_t seed : failed)
  {
    std::cout << ' ' << seed;
  }
  std::cout << std::endl;
  return n;
}

} // namespace gpuregtest

#endif
