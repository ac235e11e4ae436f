// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/histogram/JointDensity.h"

#include <cmath>
#include <limits>

namespace gpureg
{

namespace
{
// ITK regards bins below this density as empty.
constexpr double Empty = std::numeric_limits<double>::epsilon();

double
Entropy(const std::vector<double> & density)
{
  double sum = 0;
  for (const double p : density)
  {
    sum -= p > Empty ? p * std::log(p) : 0.0;
  }
  return sum;
}
} // namespace

JointDensity::JointDensity(std::vector<double> counts, std::size_t bins)
  : m_Bins(bins)
  , m_Joint(std::move(counts))
  , m_FixedMarginal(bins)
  , m_MovingMarginal(bins)
{
  for (const double count : m_Joint)
  {
    m_CountSum += count;
  }
  for (std::size_t i = 0; i < bins; ++i)
  {
    for (std::size_t k = 0; k < bins; ++k)
    {
      double & p = m_Joint[i * bins + k];
      p /= m_CountSum;
      m_FixedMarginal[i] += p;
      m_MovingMarginal[k] += p;
    }
  }
}

double
JointDensity::GetMutualInformation() const
{
  double sum = 0;
  for (std::size_t i = 0; i < m_Bins; ++i)
  {
    for (std::size_t k = 0; k < m_Bins; ++k)
    {
      const double p = m_Joint[i * m_Bins + k];
      if (p > Empty && m_FixedMarginal[i] > Empty && m_MovingMarginal[k] > Empty)
      {
        sum += p * std::log(p / (m_FixedMarginal[i] * m_MovingMarginal[k]));
      }
    }
  }
  return sum;
}

double
JointDensity::GetNormalizedMutualInformation() const
{
  return (Entropy(m_FixedMarginal) + Entropy(m_MovingMarginal)) / Entropy(m_Joint);
}

std::vector<double>
JointDensity::GetDerivativeTable(bool normalized) const
{
  std::vector<double> table(m_Joint.size());
  const double        nmi = normalized ? GetNormalizedMutualInformation() : 0;
  const double        jointEntropy = normalized ? Entropy(m_Joint) : 1;
  for (std::size_t entry = 0; entry < table.size(); ++entry)
  {
    const double p = m_Joint[entry];
    const double q = m_MovingMarginal[entry % m_Bins];
    if (p > Empty)
    {
      table[entry] = normalized ? (nmi * std::log(p) - std::log(q)) / jointEntropy : std::log(p / q);
    }
  }
  return table;
}

} // namespace gpureg
