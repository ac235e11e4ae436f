// SPDX-License-Identifier: Apache-2.0
#include "engine/filter/DiscreteGaussian.h"

#include "gpureg/core/Error.h"

#include <cmath>
#include <string>

namespace gpureg
{

std::vector<double>
MakeDiscreteGaussian(double variance, double missing, std::size_t least, std::size_t most)
{
  if (!(variance >= 0.0 && variance <= 600.0))
  {
    throw BadInputError("a discrete Gaussian has a variance of 0 to 600 samples squared, not " +
                        std::to_string(variance) + "; smooth by a recursive Gaussian instead");
  }
  std::vector<double> weights{ std::exp(-variance) * std::cyl_bessel_i(0.0, variance) };
  double              sum = weights.front();
  while (weights.size() < least || (sum < 1.0 - missing && weights.size() < most))
  {
    weights.push_back(std::exp(-variance) * std::cyl_bessel_i(static_cast<double>(weights.size()), variance));
    sum += 2.0 * weights.back();
  }
  for (double & weight : weights)
  {
    weight /= sum;
  }
  return weights;
}

} // namespace gpureg
