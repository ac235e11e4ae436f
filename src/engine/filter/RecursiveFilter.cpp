// SPDX-License-Identifier: Apache-2.0
#include "engine/filter/RecursiveFilter.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
// Powers of a pole below this are negligible, as in itk::BSplineDecompositionImageFilter.
constexpr double Tolerance = 1e-10;

/** Returns the poles of a B-spline (Unser, B-spline signal processing: part II, 1993, table I). \throws Error for an order that has none
 *  there */
std::vector<double>
ComputePoles(int order)
{
  switch (order)
  {
    case 0:
    case 1:
      return {};
    case 2:
      return { std::sqrt(8.0) - 3.0 };
    case 3:
      return { std::sqrt(3.0) - 2.0 };
    case 4:
      return { std::sqrt(664.0 - std::sqrt(438976.0)) + std::sqrt(304.0) - 19.0,
               std::sqrt(664.0 + std::sqrt(438976.0)) - std::sqrt(304.0) - 19.0 };
    case 5:
      return { std::sqrt(135.0 / 2.0 - std::sqrt(17745.0 / 4.0)) + std::sqrt(105.0 / 4.0) - 13.0 / 2.0,
               std::sqrt(135.0 / 2.0 + std::sqrt(17745.0 / 4.0)) - std::sqrt(105.0 / 4.0) - 13.0 / 2.0 };
    default:
      throw BadInputError("a B-spline has an order of 0 to 5, not " + std::to_string(order));
  }
}
} // namespace

RecursiveFilter::RecursiveFilter(Queue & queue)
  : m_Queue(queue)
  , m_Passes(MakePasses<LinePasses>(queue))
{}

RecursiveFilter::~RecursiveFilter() = default;

void
RecursiveFilter::ApplyGaussian(
  Memory & volume, const Size & size, int components, Precision precision, int axis, const RecursiveGaussian & weights)
{
  kernels::RecursionArguments a{};
  std::copy(weights.n.begin(), weights.n.end(), a.causal);
  std::copy(weights.d.begin(), weights.d.end(), a.recursive);
  std::copy(weights.m.begin(), weights.m.end(), a.anticausal);
  const double after = std::accumulate(weights.d.begin(), weights.d.end(), 1.0);
  a.causalGain = std::accumulate(weights.n.begin(), weights.n.end(), 0.0) / after;
  a.anticausalGain = std::accumulate(weights.m.begin(), weights.m.end(), 0.0) / after;
  Recurse(kernels::RecursionOfGaussian, a, ShapeOf(size, components, axis), precision, volume);
}

void
RecursiveFilter::MakeSplineCoefficients(
  Memory & volume, const Size & size, int components, Precision precision, int order)
{
  for (int axis = 0; axis < 3; ++axis)
  {
    MakeSplineCoefficients(volume, size, components, precision, order, axis);
  }
}

void
RecursiveFilter::MakeSplineCoefficients(
  Memory & volume, const Size & size, int components, Precision precision, int order, int axis)
{
  const std::vector<double> poles = ComputePoles(order);
  double                    gain = 1.0;
  for (const double pole : poles)
  {
    gain *= (1.0 - pole) * (1.0 - 1.0 / pole);
  }
  const LineShape shape = ShapeOf(size, components, axis);
  // A line of one sample stays unchanged: it is its own mirror image.
  for (std::size_t k = 0; k < poles.size() && shape.length > 1; ++k)
  {
    kernels::RecursionArguments a{};
    a.pole = poles[k];
    a.gain = k == 0 ? gain : 1.0;
    a.lastPower = std::pow(poles[k], shape.length - 1);
    a.horizon = static_cast<int>(std::ceil(std::log(Tolerance) / std::log(std::abs(poles[k]))));
    Recurse(kernels::RecursionOfSpline, a, shape, precision, volume);
  }
}

std::size_t
RecursiveFilter::GetSplineLineBytes(int length) const
{
  return m_Passes->GetStateBytes(kernels::RecursionOfSpline, length, 1);
}

std::size_t
RecursiveFilter::CountGaussianBytes(const Size & size, int components, int axis) const
{
  const LineShape shape = ShapeOf(size, components, axis);
  return m_Passes->GetStateBytes(kernels::RecursionOfGaussian,
                                 shape.length,
                                 this->ComputeBatch(kernels::RecursionOfGaussian, shape));
}

std::int64_t
RecursiveFilter::ComputeBatch(int kind, const LineShape & shape) const
{
  const std::int64_t lines = shape.inner * shape.outer;
  const std::size_t  lineBytes = m_Passes->GetStateBytes(kind, shape.length, 1);
  return lineBytes == 0 ? lines
                        : std::clamp<std::int64_t>(static_cast<std::int64_t>(m_MaximumSize / lineBytes), 1, lines);
}

/** Filters all lines, in as many launches as the memory for their states requires. */
void
RecursiveFilter::Recurse(
  int kind, kernels::RecursionArguments & a, const LineShape & shape, Precision precision, Memory & volume)
{
  const std::int64_t lines = shape.inner * shape.outer;
  a.inner = shape.inner;
  a.length = shape.length;
  const std::int64_t batch = this->ComputeBatch(kind, shape);
  const std::size_t  stateBytes = m_Passes->GetStateBytes(kind, shape.length, batch);
  Reserve(m_Queue, m_States, stateBytes);
  for (a.firstLine = 0; a.firstLine < lines; a.firstLine += batch)
  {
    a.lineCount = std::min(batch, lines - a.firstLine);
    m_Passes->Recurse(kind, a, precision, volume, m_States.get());
  }
}

} // namespace gpureg
