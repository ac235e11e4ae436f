// SPDX-License-Identifier: Apache-2.0
#ifndef Stopwatch_h
#define Stopwatch_h

#include <chrono>

namespace example
{

/** Measures the wall time since its construction, in seconds. */
class Stopwatch
{
public:
  double
  GetSeconds() const
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_Start).count();
  }

private:
  std::chrono::steady_clock::time_point m_Start = std::chrono::steady_clock::now();
};

} // namespace example

#endif
