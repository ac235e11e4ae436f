// SPDX-License-Identifier: Apache-2.0
// Functions with which tests let the engine run its tasks.
#ifndef TestParallelFor_h
#define TestParallelFor_h

#include "gpureg/core/ParallelFor.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace gpuregtest
{

inline const gpureg::ParallelFor OneAfterTheOther = [](std::int64_t                              count,
                                                       const std::function<void(std::int64_t)> & body) {
  for (std::int64_t n = 0; n < count; ++n)
  {
    body(n);
  }
};

/** Returns a function that runs tasks on this number of threads, including the caller's; thread t of n runs the tasks t, t + n, t + 2n,
 *  …. */
inline gpureg::ParallelFor
OnThreads(std::int64_t threads)
{
  return [threads](std::int64_t count, const std::function<void(std::int64_t)> & body) {
    const auto runEach = [&](std::int64_t first) {
      for (std::int64_t n = first; n < count; n += threads)
      {
        body(n);
      }
    };
    std::vector<std::thread> others;
    for (std::int64_t t = 1; t < std::min(threads, count); ++t)
    {
      others.emplace_back(runEach, t);
    }
    runEach(0);
    for (std::thread & thread : others)
    {
      thread.join();
    }
  };
}

} // namespace gpuregtest

#endif
