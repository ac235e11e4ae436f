// SPDX-License-Identifier: Apache-2.0
#ifndef KernelTime_h
#define KernelTime_h

#include "Median.h"

#include <vector>

namespace bench
{

/** Returns the milliseconds of a filter's kernels by its device's own events, the median of five separate updates. */
template <typename TFilter>
double
MeasureKernels(TFilter & filter)
{
  filter.SetMeasuresKernelTime(true);
  std::vector<double> times(5);
  for (double & time : times)
  {
    filter.Modified();
    filter.Update();
    time = filter.GetEvaluationStatistics().kernelMilliseconds;
  }
  filter.SetMeasuresKernelTime(false);
  return GetMedian(times);
}

} // namespace bench

#endif
