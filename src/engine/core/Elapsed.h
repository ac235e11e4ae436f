// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_Elapsed_h
#define gpureg_Elapsed_h

#include <chrono>

namespace gpureg
{

using Clock = std::chrono::steady_clock;

inline double
MillisecondsSince(Clock::time_point start)
{
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

} // namespace gpureg

#endif
