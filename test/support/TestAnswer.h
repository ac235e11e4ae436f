// SPDX-License-Identifier: Apache-2.0
// The results of a metric, and measures of the difference between two results.
#ifndef TestAnswer_h
#define TestAnswer_h

#include <cmath>
#include <cstddef>
#include <vector>

namespace gpuregtest
{

struct Answer
{
  double              value = 0;      // from GetValueAndDerivative()
  double              valueAlone = 0; // from GetValue()
  std::vector<double> derivative;
  std::size_t         validPoints = 0;
};

/** Returns value and derivative of a metric that is initialized. */
template <typename TMetric>
Answer
Evaluate(const TMetric & metric)
{
  Answer                           answer;
  typename TMetric::MeasureType    value;
  typename TMetric::DerivativeType derivative;
  metric.GetValueAndDerivative(value, derivative);
  answer.value = value;
  answer.derivative.assign(derivative.begin(), derivative.end());
  answer.validPoints = metric.GetNumberOfValidPoints();
  return answer;
}

/** Initializes a metric, and evaluates it both ways. */
template <typename TMetric>
Answer
InitializeAndAsk(TMetric & metric)
{
  metric.Initialize();
  Answer answer = Evaluate(metric);
  answer.valueAlone = metric.GetValue();
  return answer;
}

inline double
GetNorm(const std::vector<double> & v)
{
  double sum = 0;
  for (const double x : v)
  {
    sum += x * x;
  }
  return std::sqrt(sum);
}

/** Returns |a - b| / |b|. */
inline double
GetRelativeError(const std::vector<double> & a, const std::vector<double> & b)
{
  std::vector<double> difference(b);
  for (std::size_t p = 0; p < b.size(); ++p)
  {
    difference[p] -= a[p];
  }
  return GetNorm(difference) / GetNorm(b);
}

/** Returns true if value and derivative are as close as ours must be to ITK's. */
inline bool
AreEqual(const Answer & a, const Answer & b)
{
  return std::abs(a.value - b.value) <= 1e-5 * std::abs(b.value) &&
         GetRelativeError(a.derivative, b.derivative) <= 1e-4;
}

} // namespace gpuregtest

#endif
