// SPDX-License-Identifier: Apache-2.0
#include "gpureg/MattesMetric.h"

#include "gpureg/JointDensity.h"

#include "HistogramEvaluation.h"
#include "MattesPasses.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
// The marginals of so many bins fit into the local memory of every GPU.
constexpr int MaximumBins = 4096;

/** What the moving image's range is scaled to. */
double
GetRangeEnd(int bins)
{
  return bins - 2 * kernels::HistogramPadding;
}

HistogramNeeds
GetNeeds(int bins)
{
  return { kernels::MaximumSamplesPerChunk, GetRangeEnd(bins) };
}

/** From what kernels/MattesKernels.h sums up: N, and Σ n ln n over the cells, the fixed bins and the moving ones. */
MutualInformation
FindFromSums(const std::array<std::int64_t, kernels::SummaryCount> & sums, double countUnit)
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

MutualInformation
FindFromHistogram(const MattesResult & result, int bins)
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
} // namespace

class MattesMetric::Implementation : public HistogramEvaluation<kernels::MattesArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

MattesMetric::MattesMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins("a joint histogram", bins, 2 * kernels::HistogramPadding + 1, MaximumBins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), GetCore().queue->CreateMattesPasses()))
{}

MattesMetric::~MattesMetric()
{
  FreeUnlessForked(m_Implementation);
}

void
MattesMetric::SetArguments(kernels::MattesArguments & a) const
{
  const MovingImage & moving = GetCore().samples.GetMoving();
  const double        rangeEnd = GetRangeEnd(m_Bins);
  a.histogram.rows = a.histogram.columns = a.histogram.tableColumns = m_Bins;
  a.rangeEnd = static_cast<float>(rangeEnd);
  a.lastWhole = a.rangeEnd - 1.0f;
  a.acceptBegin = static_cast<float>(-moving.slackBelow);
  a.acceptEnd = static_cast<float>(rangeEnd + moving.slackAbove);
}

MattesResult
MattesMetric::Evaluate(const SampleMapping & mapping, Forces forces, bool normalized, const ParallelFor & parallelFor)
{
  HistogramResult result =
    m_Implementation->Evaluate(mapping, forces, GetNeeds(m_Bins), parallelFor, [&](kernels::MattesArguments & a) {
      this->SetArguments(a);
      a.normalized = normalized;
    });
  MattesResult mattes;
  static_cast<ForceResult &>(mattes) = result;
  mattes.histogram = std::move(result.histogram);
  mattes.countUnit = result.countUnit;
  return mattes;
}

std::vector<MutualInformation>
MattesMetric::EvaluateBatch(const std::vector<SampleMapping> & mappings, const ParallelFor & parallelFor)
{
  std::vector<MutualInformation> values;
  const auto                     summaries =
    m_Implementation->Summarize(mappings, GetNeeds(m_Bins), parallelFor, [this](kernels::MattesArguments & a) {
      this->SetArguments(a);
    });
  if (summaries)
  {
    for (const auto & sums : summaries->sums)
    {
      values.push_back(FindFromSums(sums, summaries->countUnit));
    }
    return values;
  }
  for (const SampleMapping & mapping : mappings)
  {
    values.push_back(FindFromHistogram(this->Evaluate(mapping, Forces::None, false, parallelFor), m_Bins));
  }
  return values;
}

} // namespace gpureg
