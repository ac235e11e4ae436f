// SPDX-License-Identifier: Apache-2.0
#include "gpureg/filter/RecursiveGaussian.h"

#include "gpureg/core/Error.h"

#include <cmath>
#include <cstddef>
#include <string>

namespace gpureg
{

namespace
{
/** The function (cosine cos(frequency x) + sine sin(frequency x)) exp(-damping x). */
struct Wave
{
  double cosine;
  double sine;
  double frequency;
  double damping;
};

/** The sum of waves that fits the Gaussian of sigma 1 best for x >= 0 (Farnebäck & Westin 2006, after Deriche 1993). */
constexpr std::array<Wave, 2> Waves{ { { 1.3530, 1.8151, 0.6681, 1.3932 }, { -0.3531, 0.0902, 2.0787, 1.3732 } } };

using Polynomial = std::array<double, 5>;

/** Returns the polynomial whose roots are the poles of the waves: the denominator of the recursion. */
Polynomial
ComputeDenominator(double sigma)
{
  Polynomial product{ 1, 0, 0, 0, 0 };
  for (const Wave & wave : Waves)
  {
    const double     radius = std::exp(-wave.damping / sigma);
    const double     factor[3] = { 1, -2 * radius * std::cos(wave.frequency / sigma), radius * radius };
    const Polynomial before = product;
    product = {};
    for (std::size_t i = 0; i < before.size(); ++i)
    {
      for (std::size_t j = 0; j < 3 && i + j < product.size(); ++j)
      {
        product[i + j] += before[i] * factor[j];
      }
    }
  }
  return product;
}

double
SumWaves(double x)
{
  double sum = 0;
  for (const Wave & wave : Waves)
  {
    sum += (wave.cosine * std::cos(wave.frequency * x) + wave.sine * std::sin(wave.frequency * x)) *
           std::exp(-wave.damping * x);
  }
  return sum;
}
} // namespace

RecursiveGaussian
MakeRecursiveGaussian(double sigma)
{
  if (!(sigma > 0) || !std::isfinite(sigma))
  {
    throw BadInputError("a Gaussian's sigma is to be greater than 0, not " + std::to_string(sigma));
  }
  const Polynomial  denominator = ComputeDenominator(sigma);
  RecursiveGaussian weights;
  double            numeratorSum = 0;
  double            denominatorSum = denominator[0];
  for (std::size_t i = 0; i < 4; ++i)
  {
    // The recursion's response to an impulse is the sum of waves; these weights make its first samples right.
    for (std::size_t j = 0; j <= i; ++j)
    {
      weights.n[i] += SumWaves(static_cast<double>(j) / sigma) * denominator[i - j];
    }
    weights.d[i] = denominator[i + 1];
    numeratorSum += weights.n[i];
    denominatorSum += weights.d[i];
  }
  // The forward and backward passes together preserve a constant.
  const double sum = 2 * numeratorSum / denominatorSum - weights.n[0];
  for (double & n : weights.n)
  {
    n /= sum;
  }
  for (std::size_t i = 0; i < 4; ++i)
  {
    weights.m[i] = (i < 3 ? weights.n[i + 1] : 0.0) - weights.d[i] * weights.n[0];
  }
  return weights;
}

} // namespace gpureg
