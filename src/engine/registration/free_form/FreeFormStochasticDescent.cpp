// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormStochasticDescent.h"

#include "gpureg/registration/StochasticGain.h"

#include "engine/registration/free_form/FreeFormDescent.h"
#include "engine/registration/free_form/FreeFormLine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

namespace gpureg
{

namespace
{
// The factor of the sigmoid's scale, as in elastix.
constexpr double SigmoidScaleFactor = 0.1;
// The least share of a gradient that is regarded as signal, because few measurements cannot distinguish less from 0.
constexpr double LeastSignal = 0.1;
// Directions in which all points are shifted to measure gradients: the corners of a tetrahedron, or in two dimensions of a square.
constexpr std::array<std::array<int, 3>, 4> Shifts{ { { 1, 1, 1 }, { 1, -1, -1 }, { -1, 1, -1 }, { -1, -1, 1 } } };

/** x, y and z of each control point, one point after another. */
using Gradient = std::vector<double>;

double
GetInnerProduct(const Gradient & a, const Gradient & b)
{
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double
ComputeLongest(const Gradient & gradient)
{
  double square = 0;
  for (auto g = gradient.begin(); g != gradient.end(); g += 3)
  {
    square = std::max(square, g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  }
  return std::sqrt(square);
}

/** Two gradients at one place; of different samples if samples are drawn. */
using GradientPair = std::array<Gradient, 2>;

/** Returns a noise whose square is the mean squared noise of the pair's gradients. */
Gradient
ComputeNoise(const GradientPair & pair)
{
  Gradient noise(pair[0].size());
  std::transform(pair[0].begin(), pair[0].end(), pair[1].begin(), noise.begin(), [](double a, double b) {
    return (a - b) / std::sqrt(2.0);
  });
  return noise;
}

/** Measures gradients around the current points, and restores the points. The gradient at the current points may be nearly 0 if they are
 *  good already. A gain from it would be unlimited, and steps would be too long for how fast the gradient grows. Klein 2009 measures at
 *  places nearby, too. The gradient changes most where all points are shifted by one vector.
 *  \param shift the distance in mm by which points are shifted
 *  \param draw draws other samples; empty if samples are not drawn */
std::vector<GradientPair>
Measure(int dimension, double shift, FreeFormLine & line, const std::function<void()> & draw)
{
  std::vector<GradientPair> measured;
  const auto                begin = line.DownloadPoints();
  for (const auto & direction : Shifts)
  {
    auto points = begin;
    for (auto & point : points)
    {
      for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
      {
        point[d] += static_cast<float>(direction[d] * shift / std::sqrt(dimension));
      }
    }
    line.SetPoints(points);
    const auto find = [&line] {
      line.EnqueueCostGradient(0);
      Gradient gradient;
      for (const auto & vector : line.DownloadGradient())
      {
        gradient.insert(gradient.end(), vector.begin(), vector.end());
      }
      return gradient;
    };
    GradientPair pair;
    pair[0] = find();
    if (draw)
    {
      draw();
      pair[1] = find();
      draw();
    }
    else
    {
      pair[1] = pair[0];
    }
    measured.push_back(std::move(pair));
  }
  line.SetPoints(begin);
  return measured;
}

/** Estimates the gain as Klein 2009 does; itk::AdaptiveStochasticGradientDescentOptimizerv4 has the equations.
 *  \param firstStep the length of the longest vector of a step, if gradients were the measured ones without noise */
StochasticGain
EstimateGain(const std::vector<GradientPair> & measured, double firstStep)
{
  const auto            places = static_cast<double>(measured.size());
  double                power = 0;
  double                noisePower = 0;
  double                longest = 0;
  double                squares = 0;
  std::vector<Gradient> noises;
  for (const GradientPair & pair : measured)
  {
    // The noises of both gradients are independent.
    power += GetInnerProduct(pair[0], pair[1]) / places;
    longest += 0.5 * (ComputeLongest(pair[0]) + ComputeLongest(pair[1])) / places;
    const Gradient noise = ComputeNoise(pair);
    noisePower += GetInnerProduct(noise, noise) / places;
    for (const Gradient & other : noises)
    {
      const double product = GetInnerProduct(noise, other);
      squares += product * product;
    }
    noises.push_back(noise);
  }
  const bool     isNoisy = noisePower > 0;
  const double   common = isNoisy ? std::max(LeastSignal, power / (power + noisePower)) : 1.0;
  const double   deviation = isNoisy ? std::sqrt(squares / (0.5 * places * (places - 1))) : power;
  StochasticGain gain;
  // Without a gradient nothing moves, and the time does not advance.
  gain.sigmoidScale = deviation > 0 ? SigmoidScaleFactor * deviation : 1.0;
  gain.gain = longest > 0 ? common * firstStep / longest * std::pow(gain.offset, gain.exponent) : 0.0;
  return gain;
}
} // namespace

std::vector<double>
DescendStochastically(const FreeFormSettings &         settings,
                      FreeFormCost &                   cost,
                      FreeFormLevel &                  level,
                      const std::function<void(int)> & onIteration)
{
  FreeFormLine line(cost, level);
  const double firstStep = settings.firstStep * level.edge;
  // Draws samples of iterations behind the last one.
  auto       number = static_cast<std::uint32_t>(settings.iterations);
  const auto draw = [&cost, &number] { cost.Draw(number++); };
  draw();
  const auto measured =
    Measure(level.grid.dimension, firstStep, line, settings.samples > 0 ? draw : std::function<void()>{});
  const StochasticGain gain = EstimateGain(measured, firstStep);
  double               time = 0;
  int                  t = 0;
  for (; t < settings.iterations && !HasConverged(settings, cost, t); ++t)
  {
    onIteration(t);
    cost.Draw(static_cast<std::uint32_t>(t));
    line.EnqueueCostGradient(t);
    line.Turn(false);
    const auto   numbers = line.DownloadNumbers();
    const double step = gain.GetStep(time);
    if (t > 0)
    {
      time = gain.Advance(time, numbers[kernels::LineProduct]);
    }
    // Shifting all points by one vector does not show how fast a penalty's gradient grows: with a large weight, unlimited steps grew until
    // they were not numbers.
    line.Place(std::min(step * numbers[kernels::LineLongest], firstStep), line.GetPoints());
  }
  return cost.Download(t);
}

} // namespace gpureg
