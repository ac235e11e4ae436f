// SPDX-License-Identifier: Apache-2.0
#include "engine/image/ValueRange.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace gpureg
{

namespace
{
// The fewest values whose distribution is examined.
constexpr std::size_t LeastRest = 32;
// A value that more than this share of the voxels has exactly is common: it does not occur so often by chance.
constexpr double CommonShare = 0.001;
constexpr double CommonRanges = 5;

/** Values beyond the quantiles of a share are outliers if some are farther away than `ranges` interquantile ranges. Then the
 *  range ends a margin beyond the quantile. */
struct Tail
{
  double share;
  double ranges;
  double margin; // in interquantile ranges
};
constexpr Tail Tails[] = { { 0.001, 5, 1 }, { 0.01, 10, 0.5 } };
// The margin beside common values, whose outline must stay visible.
constexpr double CommonMargin = 1;
// Fewer different values are labels or a mask, which lie far from each other for good reason. Their limits are multiplied by FactorOfFew.
constexpr std::size_t FewValues = 32;
constexpr double      FactorOfFew = 100;

// Hounsfield units: air is -1000, and only noise is less.
constexpr double AirFrom = -1100;
constexpr double AirTo = -850;
constexpr double LeastUnit = -1200;
// The least share of the rest that is air in a CT, and the largest share that is below air.
constexpr double LeastAir = 0.1;
constexpr double MostBelowAir = 0.001;

using Values = std::vector<double>;

/** Returns the share of sorted values that lies in [from, to]. */
double
ComputeShare(const Values & values, double from, double to)
{
  const auto first = std::lower_bound(values.begin(), values.end(), from);
  return static_cast<double>(std::upper_bound(first, values.end(), to) - first) / static_cast<double>(values.size());
}

/** Returns how many different values the sorted values have. */
std::size_t
CountDifferent(const Values & values)
{
  std::size_t count = values.empty() ? 0 : 1;
  for (std::size_t n = 1; n < values.size(); ++n)
  {
    count += values[n] != values[n - 1];
  }
  return count;
}

/** Returns the values that a large share of the sorted sample has. */
Values
FindCommon(const Values & sample)
{
  Values     common;
  const auto add = [&](double value, double leastShare) {
    if (ComputeShare(sample, value, value) > leastShare &&
        std::find(common.begin(), common.end(), value) == common.end())
    {
      common.push_back(value);
    }
  };
  add(sample.front(), CommonShare);
  add(sample.back(), CommonShare);
  add(sample[sample.size() / 2], 0.5);
  return common;
}

/** A sorted sample, its common values, and the rest of it. */
struct Sample
{
  Values all;
  Values common;
  Values rest;
  /** Multiplies the distances of outliers; see FactorOfFew. */
  double factor = 1;
};

/** Narrows the range if values lie beyond a tail's limits. */
void
CutTail(const Sample & sample, const Tail & tail, ValueRange & range)
{
  const std::size_t last = sample.rest.size() - 1;
  const auto        beyond = static_cast<std::size_t>(std::ceil(tail.share * static_cast<double>(last)));
  const double      quantiles[] = { sample.rest[beyond], sample.rest[last - beyond] };
  const double      reach = CommonRanges * sample.factor * (quantiles[1] - quantiles[0]);
  double            low = quantiles[0];
  double            high = quantiles[1];
  for (const double value : sample.common)
  {
    if (value == 0 || (quantiles[0] - value <= reach && value - quantiles[1] <= reach))
    {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const double width = high - low;
  const double far = tail.ranges * sample.factor * width;
  if (!(width > 0))
  {
    return;
  }
  const auto isAny = [&](const auto & is) { return std::any_of(sample.common.begin(), sample.common.end(), is); };
  if (range[0] < low - far)
  {
    range[0] = low - width * (isAny([low](double value) { return value < low; }) ? CommonMargin : tail.margin);
  }
  if (range[1] > high + far)
  {
    range[1] = high + width * (isAny([high](double value) { return value > high; }) ? CommonMargin : tail.margin);
  }
}

/** Excludes padding below air if the sample is that of a CT. */
void
CutPadding(const Sample & sample, FoundRange & found)
{
  const double least = sample.all.front();
  const bool   isPadded = least < LeastUnit && ComputeShare(sample.all, least, least) > CommonShare;
  if (isPadded && ComputeShare(sample.rest, AirFrom, AirTo) >= LeastAir &&
      ComputeShare(sample.rest, least, AirFrom) <= MostBelowAir)
  {
    const auto from = std::lower_bound(sample.rest.begin(), sample.rest.end(), AirFrom);
    const auto to = std::upper_bound(from, sample.rest.end(), AirTo);
    found.range[0] = std::max(found.range[0], AirFrom);
    found.becomes[0] = *(from + (to - from) / 2);
  }
}
} // namespace

FoundRange
ComputeValueRange(std::vector<double> values, const ValueRange & all)
{
  FoundRange found{ all, all };
  if (values.size() < LeastRest)
  {
    return found;
  }
  std::sort(values.begin(), values.end());
  Sample sample;
  sample.all = std::move(values);
  sample.common = FindCommon(sample.all);
  std::copy_if(sample.all.begin(), sample.all.end(), std::back_inserter(sample.rest), [&sample](double value) {
    return std::find(sample.common.begin(), sample.common.end(), value) == sample.common.end();
  });
  if (sample.rest.size() < LeastRest)
  {
    return found;
  }
  sample.factor = CountDifferent(sample.rest) < FewValues ? FactorOfFew : 1;
  for (const Tail & tail : Tails)
  {
    CutTail(sample, tail, found.range);
  }
  found.becomes = found.range;
  CutPadding(sample, found);
  return found;
}

} // namespace gpureg
