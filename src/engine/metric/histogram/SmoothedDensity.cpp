// SPDX-License-Identifier: Apache-2.0
// src/kernels/metric/histogram/JointHistogramSummaryKernels.h has the counterpart for CUDA and OpenCL.
#include "gpureg/metric/histogram/SmoothedDensity.h"

#include "engine/metric/histogram/JointDensityArguments.h"

#include <algorithm>
#include <numeric>

namespace gpureg
{

namespace
{
double
ComputeMutualInformation(const kernels::JointDensityArguments & a, int bins, const double * joint)
{
  std::vector<double> marginals(2 * static_cast<std::size_t>(bins));
  std::vector<double> ofEntries(bins);
  std::vector<double> ofRows(bins);
  for (int marginal = 0; marginal < 2 * bins; ++marginal)
  {
    marginals[marginal] = kernels::MarginalDensity(bins, joint, marginal);
  }
  for (int row = 0; row < bins; ++row)
  {
    for (int column = 0; column < bins; ++column)
    {
      ofEntries[column] = kernels::MutualInformationOfEntry(&a, bins, joint, marginals.data(), row, column);
    }
    ofRows[row] = kernels::SumLine(bins, ofEntries.data(), 1);
  }
  return kernels::MutualInformationOfRows(bins, ofRows.data());
}
} // namespace

SmoothedDensity::SmoothedDensity(const std::vector<std::uint64_t> & counts,
                                 int                                bins,
                                 const JointHistogramOptions &      options)
  : m_Joint(counts.size())
{
  const kernels::JointDensityArguments a = MakeDensityArguments(options);
  const std::uint64_t                  all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{ 0 });
  std::vector<double>                  alongMoving(counts.size());
  std::transform(counts.begin(), counts.end(), m_Joint.begin(), [all](std::uint64_t count) {
    return kernels::DensityOfCount(count, all);
  });
  for (int row = 0; row < bins; ++row)
  {
    for (int column = 0; column < bins; ++column)
    {
      alongMoving[row * bins + column] = kernels::SmoothDensity(&a, bins, &m_Joint[row * bins], 1, column);
    }
  }
  for (int row = 0; row < bins; ++row)
  {
    for (int column = 0; column < bins; ++column)
    {
      m_Joint[row * bins + column] = kernels::SmoothDensity(&a, bins, &alongMoving[column], bins, row);
    }
  }
  m_MutualInformation = ComputeMutualInformation(a, bins, m_Joint.data());
}

} // namespace gpureg
