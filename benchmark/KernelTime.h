// SPDX-License-Identifier: Apache-2.0
#ifndef KernelTime_h
#define KernelTime_h

#include <algorithm>
#include <array>

namespace bench
{

/** Milliseconds of a filter's kernels by its device's own events, the median of five updates of their own. */
template <typename TFilter>
double
MeasureKernels(TFilter & filter)
{
  filter.SetMeasuresKernelTime(true);
  std::array<double, 5> times;
  for (double & time : times)
  {
    filter.Modified();
    filter.Update();
    time = filter.GetEvaluationStatistics().kernelMilliseconds;
  }
  filter.SetMeasuresKernelTime(false);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace bench

#endif
