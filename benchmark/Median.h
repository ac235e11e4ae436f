// SPDX-License-Identifier: Apache-2.0
#ifndef Median_h
#define Median_h

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench
{

/** Returns the median of one or more values; for an even number, the larger of the two in the middle. */
inline double
GetMedian(std::vector<double> values)
{
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace bench

#endif
