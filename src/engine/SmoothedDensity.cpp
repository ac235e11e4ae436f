// SPDX-License-Identifier: Apache-2.0
#include "gpureg/SmoothedDensity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpureg
{

namespace
{
/** A line of so many values, `stride` apart, smoothed at one of them. */
double
SmoothAt(
  const double * line, std::size_t stride, std::size_t size, std::size_t place, const std::vector<double> & weights)
{
  double sum = weights[0] * line[place * stride];
  for (std::size_t r = 1; r < weights.size(); ++r)
  {
    const std::size_t before = place > r ? place - r : 0;
    const std::size_t behind = std::min(place + r, size - 1);
    sum += weights[r] * (line[before * stride] + line[behind * stride]);
  }
  return sum;
}
} // namespace

SmoothedDensity::SmoothedDensity(const std::vector<std::uint64_t> & counts,
                                 std::size_t                        bins,
                                 const std::vector<double> &        smoothing)
  : m_Bins(bins)
  , m_Joint(counts.begin(), counts.end())
  , m_FixedMarginal(bins)
  , m_MovingMarginal(bins)
{
  const double        sum = std::accumulate(m_Joint.begin(), m_Joint.end(), 0.0);
  std::vector<double> alongMoving(m_Joint.size());
  for (double & p : m_Joint)
  {
    p = sum > 0 ? p / sum : 0.0;
  }
  for (std::size_t cell = 0; cell < m_Joint.size(); ++cell)
  {
    alongMoving[cell] = SmoothAt(&m_Joint[cell - cell % bins], 1, bins, cell % bins, smoothing);
  }
  for (std::size_t cell = 0; cell < m_Joint.size(); ++cell)
  {
    m_Joint[cell] = SmoothAt(&alongMoving[cell % bins], bins, bins, cell / bins, smoothing);
    m_FixedMarginal[cell / bins] += m_Joint[cell];
    m_MovingMarginal[cell % bins] += m_Joint[cell];
  }
}

double
SmoothedDensity::GetMutualInformation(bool swapsMarginals, double least) const
{
  const std::vector<double> & ofRow = swapsMarginals ? m_MovingMarginal : m_FixedMarginal;
  const std::vector<double> & ofColumn = swapsMarginals ? m_FixedMarginal : m_MovingMarginal;
  double                      sum = 0;
  for (std::size_t cell = 0; cell < m_Joint.size(); ++cell)
  {
    const double apart = ofRow[cell / m_Bins] * ofColumn[cell % m_Bins];
    if (apart > least && m_Joint[cell] / apart > least)
    {
      sum += m_Joint[cell] * std::log(m_Joint[cell] / apart);
    }
  }
  return sum / std::log(2.0);
}

} // namespace gpureg
