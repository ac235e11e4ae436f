// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over a device's arrays, on every device, against double precision.
#include "FieldsOnDevice.h"
#include "TestDevices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace gpuregtest
{

namespace
{
using Floats = std::vector<float>;

class FieldReducerTest : public DeviceTest
{};

Floats
DrawNumbers(std::int64_t count)
{
  std::mt19937                          random(7);
  std::uniform_real_distribution<float> uniform(-1.0F, 3.0F);
  Floats                                numbers(static_cast<std::size_t>(count));
  std::generate(numbers.begin(), numbers.end(), [&] { return uniform(random); });
  return numbers;
}

/** Returns how far the order of additions may take a sum of floats from the exact one: far less than this. */
double
FindRounding(const Floats & numbers)
{
  return 1e-6 * 3.0 * static_cast<double>(numbers.size());
}
} // namespace

TEST_P(FieldReducerTest, AddsUpAndFindsTheLargest)
{
  FieldsOnDevice on(GetParam());
  // Fewer than a strip has, as many as strips have, and more than the first launch's strips have by 16.
  for (const std::int64_t count : { 1, 15, 16, 17, 1000, 65537, 600001 })
  {
    SCOPED_TRACE(count);
    Floats       numbers = DrawNumbers(count);
    const auto   first = count / 3;
    const auto   result = on.Upload(Floats(6, -7.0F));
    const auto   there = on.Upload(numbers);
    const auto   from = numbers.begin() + first;
    const double sum = std::accumulate(from, numbers.end(), 0.0);
    const double sumOfAll = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    on.GetReducer().ComputeLargest(*there, first, count - first, *result, 1);
    on.GetReducer().Sum(*there, first, count - first, *result, 2);
    Floats found = on.Download<float>(result);
    EXPECT_EQ(found[1], *std::max_element(from, numbers.end()));
    EXPECT_NEAR(found[2], sum, FindRounding(numbers));
    on.GetReducer().ComputeLargestAndSum(*there, count, *result);
    found = on.Download<float>(result);
    EXPECT_EQ(found[0], *std::max_element(numbers.begin(), numbers.end()));
    EXPECT_NEAR(found[1], sumOfAll, FindRounding(numbers));
    const auto parts = on.GetReducer().ComputeLargestAndSumOfParts(*there, count);
    Floats     ofParts(2 * static_cast<std::size_t>(parts.count));
    const auto sums = ofParts.begin() + parts.count;
    on.GetQueue().Download(ofParts.data(), *parts.memory, sizeof(float) * ofParts.size());
    EXPECT_EQ(*std::max_element(ofParts.begin(), sums), found[0]);
    EXPECT_NEAR(std::accumulate(sums, ofParts.end(), 0.0), sumOfAll, FindRounding(numbers));
    // Negative numbers are the largest in magnitude.
    std::transform(numbers.begin(), numbers.end(), numbers.begin(), [](float number) { return number - 4.0F; });
    const auto negative = on.Upload(numbers);
    on.GetReducer().ComputeLargestMagnitude(*negative, 0, count, *result, 5);
    on.GetReducer().ComputeLargest(*negative, 0, count, *result, 4);
    found = on.Download<float>(result);
    EXPECT_EQ(found[5], -*std::min_element(numbers.begin(), numbers.end()));
    EXPECT_EQ(found[4], *std::max_element(numbers.begin(), numbers.end()));
    EXPECT_EQ(found[3], -7.0F);
    on.GetReducer().ComputeLargestMagnitude(*negative, first, count - first, *result, 5);
    EXPECT_EQ(on.Download<float>(result)[5], -*std::min_element(numbers.begin() + first, numbers.end()));
    // A number that is none makes the largest magnitude infinite.
    numbers[static_cast<std::size_t>(first)] = std::numeric_limits<float>::quiet_NaN();
    const auto broken = on.Upload(numbers);
    on.GetReducer().ComputeLargestMagnitude(*broken, 0, count, *result, 5);
    EXPECT_EQ(on.Download<float>(result)[5], std::numeric_limits<float>::infinity());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FieldReducerTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
