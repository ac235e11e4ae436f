// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_ConvergenceWindow_h
#define gpureg_ConvergenceWindow_h

#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>

namespace gpureg
{

/** Says how a level's costs still change, as itk::Function::WindowConvergenceMonitoringFunction does: minus the slope of a line through the
 *  last costs, at places from 0 to 1, each divided by the sum of the magnitudes of all costs of the level. The line is the scattered-data
 *  approximation by a B-spline of order 1 (Lee 1997), which is not the line of least squares. */
class ConvergenceWindow
{
public:
  /** \param costs number of costs that a line goes through, 2 or more */
  explicit ConvergenceWindow(std::size_t costs)
    : m_Size(costs)
  {}

  /** Adds a cost. \return the convergence value; the largest number until the window is full */
  double
  Add(double cost)
  {
    m_Costs.push_back(cost);
    m_Total += std::abs(cost);
    if (m_Costs.size() > m_Size)
    {
      m_Costs.pop_front();
    }
    if (m_Costs.size() < m_Size)
    {
      return std::numeric_limits<double>::max();
    }
    // ITK moves the last place by a thousandth of its spacing of 0.1 into the line's span.
    constexpr double fromEnd = 1e-4;
    double           sums[2] = {};
    double           weights[2] = {};
    for (std::size_t n = 0; n < m_Size; ++n)
    {
      // ITK's points are floats.
      const float  share = static_cast<float>(n) / static_cast<float>(m_Size - 1);
      const double place = n + 1 == m_Size ? 1 - fromEnd : static_cast<double>(share);
      const double weight[2] = { 1 - place, place };
      const double squares = weight[0] * weight[0] + weight[1] * weight[1];
      for (int end = 0; end < 2; ++end)
      {
        sums[end] += std::pow(weight[end], 3) / squares * m_Costs[n] / m_Total;
        weights[end] += weight[end] * weight[end];
      }
    }
    return sums[0] / weights[0] - sums[1] / weights[1];
  }

private:
  std::size_t        m_Size;
  std::deque<double> m_Costs;
  double             m_Total = 0;
};

} // namespace gpureg

#endif
