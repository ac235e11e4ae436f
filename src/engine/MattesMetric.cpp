// SPDX-License-Identifier: Apache-2.0
#include "gpureg/MattesMetric.h"

#include "EntropySums.h"
#include "HistogramEvaluation.h"
#include "MattesPasses.h"

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
MattesMetric::EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
{
  const auto summaries =
    m_Implementation->Summarize(candidates, GetNeeds(m_Bins), parallelFor, [this](kernels::MattesArguments & a) {
      this->SetArguments(a);
    });
  return FindMutualInformation(summaries, candidates, m_Bins, [&](const SampleMapping & mapping) {
    return this->Evaluate(mapping, Forces::None, false, parallelFor);
  });
}

} // namespace gpureg
