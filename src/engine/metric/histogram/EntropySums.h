// SPDX-License-Identifier: Apache-2.0
// Mutual information from the sums that a device computes from a candidate's joint histogram: see
// kernels/metric/histogram/EntropyTableKernels.h.
#ifndef gpureg_EntropySums_h
#define gpureg_EntropySums_h

#include "gpureg/metric/histogram/JointDensity.h"

#include "engine/metric/histogram/HistogramEvaluation.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gpureg
{

/** Returns mutual information. \param sums N, and Σ n ln n over the entries, the fixed bins and the moving bins, in units of 1/countUnit */
inline MutualInformation
ComputeMutualInformation(const std::array<std::int64_t, kernels::SummaryCount> & sums, double countUnit)
{
  MutualInformation value;
  if (sums[0] > 0)
  {
    const auto   count = static_cast<double>(sums[0]);
    const auto   entropyOf = [count](std::int64_t sum) { return std::log(count) - static_cast<double>(sum) / count; };
    const double joint = entropyOf(sums[1]);
    const double marginal = entropyOf(sums[2]) + entropyOf(sums[3]);
    value.count = count / countUnit;
    value.mutualInformation = marginal - joint;
    value.normalized = marginal / joint;
  }
  return value;
}

/** Returns mutual information, computed from the histogram. */
template <typename TResult>
MutualInformation
ComputeMutualInformation(const TResult & result, int bins)
{
  MutualInformation  value;
  const JointDensity density(std::vector<double>(result.histogram.begin(), result.histogram.end()),
                             static_cast<std::size_t>(bins));
  if (density.GetCountSum() > 0)
  {
    value.count = density.GetCountSum() / result.countUnit;
    value.mutualInformation = density.GetMutualInformation();
    value.normalized = density.GetNormalizedMutualInformation();
  }
  return value;
}

/** Returns the mutual information of each candidate: from the device's sums, or, if there are none, from the histogram that
 *  evaluate(mapping) returns for each candidate. */
template <typename TEvaluate>
std::vector<MutualInformation>
ComputeMutualInformation(const std::optional<HistogramSummaries> & summaries,
                         const CandidateMaps &                     candidates,
                         int                                       bins,
                         const TEvaluate &                         evaluate)
{
  std::vector<MutualInformation> values;
  if (summaries)
  {
    for (const auto & sums : summaries->sums)
    {
      values.push_back(ComputeMutualInformation(sums, summaries->countUnit));
    }
    return values;
  }
  for (std::int64_t n = 0; n < candidates.count; ++n)
  {
    values.push_back(ComputeMutualInformation(evaluate(MakeMapping(candidates, n)), bins));
  }
  return values;
}

} // namespace gpureg

#endif
