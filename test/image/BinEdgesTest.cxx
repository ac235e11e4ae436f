// SPDX-License-Identifier: Apache-2.0
// Tests the values at which the bins of a histogram begin.
#include "GPURegistrationDetail/metric/itkGPUBinEdges.h"

#include "TestImages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gpuregtest
{

namespace
{
using itk::GPURegistrationDetail::ComputeBinBetween;
using itk::GPURegistrationDetail::ComputeBinEdges;
using itk::GPURegistrationDetail::NumberLine;
} // namespace

/** Values on both sides of powers of two, and 0 with either sign. */
TEST(BinEdgesTest, AreWhereBinsBegin)
{
  Random random(3);
  for (int n = 0; n < 200; ++n)
  {
    const double scale = std::pow(10.0, Uniform(random, -30.0, 30.0));
    const auto   minimum = static_cast<float>(scale * Uniform(random, -1.0, 1.0));
    const auto   maximum = static_cast<float>(minimum + scale * Uniform(random, 0.0, 2.0));
    const auto   bins = static_cast<itk::SizeValueType>(Uniform(random, 2.0, 300.0));
    const auto   binOf = [&](float value) { return ComputeBinBetween(value, minimum, maximum, bins); };
    if (!(minimum < maximum))
    {
      continue;
    }
    const auto found = ComputeBinEdges(minimum, maximum, binOf);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 0);
    ASSERT_EQ(found->edges.size(), bins - 1);
    for (std::size_t e = 0; e < found->edges.size(); ++e)
    {
      const auto edge = static_cast<float>(found->edges[e]);
      EXPECT_GE(binOf(edge), e + 1);
      EXPECT_LE(binOf(std::nextafter(edge, minimum)), e);
    }
  }
}

TEST(BinEdgesTest, OfAllThatDoublesReach)
{
  for (const auto & range : { std::pair<double, double>{ -1e308, 1e307 }, { -1e-310, 1e-309 }, { 1.0, 1.0 + 1e-15 } })
  {
    const double middle = range.first / 2 + range.second / 2;
    const auto   found = ComputeBinEdges(range.first, range.second, [&](double v) { return v < middle ? 4 : 6; });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 4);
    // The bin between the two equal edges is empty.
    EXPECT_EQ(found->edges, (std::vector<double>{ middle, middle }));
  }
}

TEST(BinEdgesTest, OfOneValueAndOfTooManyBins)
{
  const auto one = ComputeBinEdges(3.0, 3.0, [](double) { return 7; });
  ASSERT_TRUE(one);
  EXPECT_EQ(one->first, 7);
  EXPECT_TRUE(one->edges.empty());
  EXPECT_FALSE(ComputeBinEdges(0.0, 1.0, [](double value) { return value < 0.5 ? 0 : 0xFFFF; }));
  EXPECT_FALSE(ComputeBinEdges(0.0, 1.0, [](double value) { return value < 0.5 ? 9 : 3; }));
}

TEST(NumberLineTest, GoesUpByTheLeastStep)
{
  for (const double number : { -1e300, -1.0, -std::numeric_limits<double>::denorm_min(), 0.0, 1e-310, 2.0, 1e300 })
  {
    const std::int64_t place = NumberLine<double>::ComputePlace(number);
    EXPECT_EQ(NumberLine<double>::GetNumber(place), number);
    EXPECT_EQ(NumberLine<double>::GetNumber(place + 1), std::nextafter(number, 2e300));
  }
  EXPECT_EQ(NumberLine<float>::ComputePlace(-0.0f), NumberLine<float>::ComputePlace(0.0f));
}

} // namespace gpuregtest
