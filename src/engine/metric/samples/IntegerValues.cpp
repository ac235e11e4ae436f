// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/samples/IntegerValues.h"

#include "kernels/core/Prelude.h"
#include "kernels/core/Geometry.h"
#include "kernels/core/RoundedProduct.h"
#include "kernels/core/Strips.h"
#include "kernels/image/InvalidSample.h"
#include "kernels/image/ImageValues.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpureg
{

namespace
{
// B-spline coefficients may be up to 2^9 times as large as the values without overflowing their sums.
constexpr int CoefficientBits = 9;
using kernels::MostValueBits;
} // namespace

int
ComputeValueExponent(const ValueScale & scale)
{
  const int rangeExponent = std::ilogb(scale.range);
  int       exponent =
    std::min(46 - rangeExponent, MostValueBits - CoefficientBits - std::ilogb(std::max(scale.largest, scale.range)));
  if (scale.roundsToFloat && scale.minimum != 0)
  {
    exponent = std::min(exponent, MostValueBits - std::ilogb(scale.minimum));
  }
  return std::max(exponent, 31 - rangeExponent);
}

Filler
MakeIntegerFiller(const Filler & values, int exponent)
{
  return [values, exponent](std::int64_t first, std::int64_t count, void * out) {
    std::vector<double> numbers(static_cast<std::size_t>(count));
    values(first, count, numbers.data());
    std::transform(numbers.begin(), numbers.end(), static_cast<kernels::i64 *>(out), [=](double value) {
      return kernels::ToIntegerValue(std::ldexp(value, exponent));
    });
  };
}

} // namespace gpureg
