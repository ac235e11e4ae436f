// SPDX-License-Identifier: Apache-2.0
// Tests the logarithm that every device rounds identically against the library's, in long double.
#include "kernels/core/Prelude.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/core/RoundedLog.h"

#include "TestSeeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace gpuregtest
{
namespace
{
/** Expects RoundedLogOf(x) to be within 1.5·2^-52 of the logarithm, relatively, or absolutely if that is below 1: ln 2, its product and
 *  the sum are each rounded by half of 2^-52. */
void
ExpectLog(double x)
{
  const long double exact = std::log(static_cast<long double>(x));
  const long double most = 1.5L * std::max(1.0L, std::abs(exact)) * std::numeric_limits<double>::epsilon();
  EXPECT_LE(std::abs(gpureg::kernels::RoundedLogOf(x) - exact), most) << "x " << x;
}
} // namespace

TEST(RoundedLog, OfEdges)
{
  const double root = std::sqrt(2.0);
  for (const double x : { 1.0, 0.5, 2.0, root, root / 2, std::exp(1.0) })
  {
    ExpectLog(std::nextafter(x, 0.0));
    ExpectLog(x);
    ExpectLog(std::nextafter(x, 10.0));
  }
  ExpectLog(std::numeric_limits<double>::min());
  ExpectLog(std::numeric_limits<double>::max());
  EXPECT_EQ(gpureg::kernels::RoundedLogOf(1.0), 0.0);
}

TEST(RoundedLog, OfRandomNumbers)
{
  const Seeds                      seeds = GetSeeds(17, 1);
  std::mt19937_64                  random(seeds.first);
  std::uniform_real_distribution<> exponent(-1000, 1000), fraction(1, 2), aboutOne(0.9, 1.1);
  for (std::uint64_t n = 0; n < 100000 * seeds.count; ++n)
  {
    ExpectLog(std::ldexp(fraction(random), static_cast<int>(exponent(random))));
    ExpectLog(aboutOne(random));
  }
}

} // namespace gpuregtest
