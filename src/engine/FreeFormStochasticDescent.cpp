// SPDX-License-Identifier: Apache-2.0
#include "FreeFormStochasticDescent.h"

#include "gpureg/StochasticGain.h"

#include "FreeFormLine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

namespace gpureg
{

namespace
{
// Gradients at a level's beginning that tell how noisy they are.
constexpr int Measurements = 10;
// Of the sigmoid's scale: as elastix has it.
constexpr double SigmoidScaleFactor = 0.1;

/** x, y and z of each control point behind each other. */
using Gradient = std::vector<double>;

double
GetInnerProduct(const Gradient & a, const Gradient & b)
{
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/** Gradients at one place. */
struct MeasuredGradients
{
  std::vector<Gradient> gradients;
  /** Of each one's longest vector. */
  double meanLongest = 0;
};

MeasuredGradients
Measure(int count, int firstIteration, FreeFormCost & cost, FreeFormLine & line)
{
  MeasuredGradients measured;
  for (int n = 0; n < count; ++n)
  {
    cost.Draw(static_cast<std::uint32_t>(firstIteration + n));
    line.FindGradient(0);
    Gradient gradient;
    double   square = 0;
    for (const auto & vector : line.BringGradient())
    {
      gradient.insert(gradient.end(), vector.begin(), vector.end());
      square = std::max(square, vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    }
    measured.gradients.push_back(std::move(gradient));
    measured.meanLongest += std::sqrt(square) / count;
  }
  return measured;
}

/** What Klein 2009 estimates: itk::AdaptiveStochasticGradientDescentOptimizerv4 has the equations.
 *  \param firstStep the longest vector of the first step, were gradients without noise */
StochasticGain
EstimateGain(MeasuredGradients measured, double firstStep)
{
  std::vector<Gradient> & gradients = measured.gradients;
  const auto              count = static_cast<double>(gradients.size());
  Gradient                mean(gradients.front().size());
  for (const Gradient & gradient : gradients)
  {
    std::transform(mean.begin(), mean.end(), gradient.begin(), mean.begin(), [count](double sum, double g) {
      return sum + g / count;
    });
  }
  double noisePower = 0;
  double squares = 0;
  for (auto noise = gradients.begin(); noise != gradients.end(); ++noise)
  {
    std::transform(noise->begin(), noise->end(), mean.begin(), noise->begin(), std::minus<>());
    noisePower += GetInnerProduct(*noise, *noise);
    for (auto other = gradients.begin(); other != noise; ++other)
    {
      const double product = GetInnerProduct(*noise, *other);
      squares += product * product;
    }
  }
  const double   meanPower = GetInnerProduct(mean, mean);
  double         common = 1;
  double         deviation = meanPower;
  StochasticGain gain;
  if (count > 1 && noisePower > 0)
  {
    noisePower /= count - 1;
    // The mean has its share of the noise.
    const double power = meanPower - noisePower / count;
    common = std::max(1 / count, power / (power + noisePower));
    deviation = std::sqrt(squares / (0.5 * count * (count - 1)));
  }
  // Where there is no gradient nothing moves, and time does not run.
  gain.sigmoidScale = deviation > 0 ? SigmoidScaleFactor * deviation : 1.0;
  gain.gain =
    measured.meanLongest > 0 ? common * firstStep / measured.meanLongest * std::pow(gain.offset, gain.exponent) : 0.0;
  return gain;
}
} // namespace

std::vector<double>
DescendStochastically(const FreeFormSettings &         settings,
                      FreeFormCost &                   cost,
                      ControlStepPasses &              steps,
                      FreeFormLevel &                  level,
                      const std::function<void(int)> & onIteration)
{
  FreeFormLine line(cost, steps, level);
  // Samples of other iterations than there are.
  const int            measurements = settings.samples > 0 ? Measurements : 1;
  const StochasticGain gain =
    EstimateGain(Measure(measurements, settings.iterations, cost, line), settings.firstStep * level.edge);
  double time = 0;
  for (int t = 0; t < settings.iterations; ++t)
  {
    onIteration(t);
    cost.Draw(static_cast<std::uint32_t>(t));
    line.FindGradient(t);
    line.Turn(false);
    const auto   numbers = line.BringNumbers();
    const double step = gain.GetStep(time);
    if (t > 0)
    {
      time = gain.Advance(time, numbers[kernels::LineProduct]);
    }
    line.Place(step * numbers[kernels::LineLongest], line.GetPoints());
  }
  return cost.Bring(settings.iterations);
}

} // namespace gpureg
