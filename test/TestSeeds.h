// SPDX-License-Identifier: Apache-2.0
// Seeds of random cases: printed, and repeated or widened by GPUREG_TEST_SEED and GPUREG_TEST_CASES.
#ifndef TestSeeds_h
#define TestSeeds_h

#include <cstdint>
#include <cstdlib>
#include <iostream>

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

} // namespace gpuregtest

#endif
