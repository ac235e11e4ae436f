// SPDX-License-Identifier: Apache-2.0
// The set-ups that the tests of equivalence have in common. Each function takes a case, and calls check(c) with copies of it in which one
// setting, or two, have every value; what a metric has beyond that stands in its test.
#ifndef EquivalenceMatrix_h
#define EquivalenceMatrix_h

#include "MetricCase.h"

#include <vector>

namespace gpuregtest
{

template <typename TEnum>
std::vector<TEnum>
AllUpTo(TEnum last)
{
  std::vector<TEnum> all;
  for (int i = 0; i <= static_cast<int>(last); ++i)
  {
    all.push_back(static_cast<TEnum>(i));
  }
  return all;
}

/** Checks copies of a case in which a member has each of these values. */
template <typename TValue, typename TCheck>
void
CheckEach(MetricCase c, TValue MetricCase::*member, const std::vector<TValue> & values, const TCheck & check)
{
  for (const TValue value : values)
  {
    c.*member = value;
    check(c);
  }
}

template <typename TCheck>
void
CheckMotions(const MetricCase & base, const TCheck & check)
{
  CheckEach(base, &MetricCase::motion, AllUpTo(LastMotionButSplines), check);
}

template <typename TCheck>
void
CheckGeometries(const MetricCase & base, const TCheck & check)
{
  CheckEach(base, &MetricCase::geometry, AllUpTo(Geometry::OtherVirtualDomain), check);
}

template <typename TCheck>
void
CheckMasks(const MetricCase & base, const TCheck & check)
{
  CheckEach(base, &MetricCase::masks, AllUpTo(Masks::Both), check);
}

/** Checks each sampling with each of these motions. */
template <typename TCheck>
void
CheckSamplings(const MetricCase & base, const std::vector<Motion> & motions, const TCheck & check)
{
  CheckEach(base, &MetricCase::sampling, AllUpTo(Sampling::VirtualPoints), [&](const MetricCase & c) {
    CheckEach(c, &MetricCase::motion, motions, check);
  });
}

template <typename TCheck>
void
CheckInterpolations(const MetricCase & base, const TCheck & check)
{
  CheckEach(base, &MetricCase::interpolation, AllUpTo(Interpolation::BSpline), check);
}

} // namespace gpuregtest

#endif
