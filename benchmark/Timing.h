// SPDX-License-Identifier: Apache-2.0
#ifndef Timing_h
#define Timing_h

#include "Stopwatch.h"

#include <algorithm>
#include <vector>

namespace bench
{

template <typename TFunction>
double
TimeMilliseconds(const TFunction & function)
{
  const example::Stopwatch watch;
  function();
  return 1000 * watch.GetSeconds();
}

/** Times of one thing done again and again, in milliseconds. */
class Series
{
public:
  void
  Add(double milliseconds)
  {
    m_Times.push_back(milliseconds);
  }

  std::size_t
  GetCount() const
  {
    return m_Times.size();
  }

  /** 0 if nothing was timed. */
  double
  GetMedian() const
  {
    if (m_Times.empty())
    {
      return 0;
    }
    std::vector<double> sorted = m_Times;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  double
  GetMinimum() const
  {
    return m_Times.empty() ? 0 : *std::min_element(m_Times.begin(), m_Times.end());
  }

private:
  std::vector<double> m_Times;
};

/** How often to repeat. */
struct Repetitions
{
  int atMost = 20;
  int atLeast = 3;
  /** After so long no repetition beyond the least is begun. */
  double seconds = 10;
};

/** Calls step() as often as asked. */
template <typename TStep>
void
Repeat(const Repetitions & repetitions, const TStep & step)
{
  const example::Stopwatch watch;
  for (int n = 0;
       n < repetitions.atMost && (n < repetitions.atLeast || watch.GetSeconds() < repetitions.seconds);
       ++n)
  {
    step();
  }
}

} // namespace bench

#endif
