// SPDX-License-Identifier: Apache-2.0
#include "gpureg/MattesMetric.h"

#include "HistogramEvaluation.h"
#include "MattesPasses.h"

#include <memory>
#include <string>
#include <utility>

namespace gpureg
{

namespace
{
// The marginals of so many bins fit into the local memory of every GPU.
constexpr int MaximumBins = 4096;
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

MattesResult
MattesMetric::Evaluate(const SampleMapping & mapping, Forces forces, bool normalized, const ParallelFor & parallelFor)
{
  const MovingImage & moving = GetCore().samples.GetMoving();
  const double        rangeEnd = m_Bins - 2 * kernels::HistogramPadding;
  HistogramResult     result = m_Implementation->Evaluate(
    mapping, forces, { kernels::MaximumSamplesPerChunk, rangeEnd }, parallelFor, [&](kernels::MattesArguments & a) {
      a.histogram.rows = a.histogram.columns = a.histogram.tableColumns = m_Bins;
      a.rangeEnd = static_cast<float>(rangeEnd);
      a.lastWhole = a.rangeEnd - 1.0f;
      a.acceptBegin = static_cast<float>(-moving.slackBelow);
      a.acceptEnd = static_cast<float>(rangeEnd + moving.slackAbove);
      a.normalized = normalized;
    });
  MattesResult mattes;
  static_cast<ForceResult &>(mattes) = result;
  mattes.histogram = std::move(result.histogram);
  mattes.countUnit = result.countUnit;
  return mattes;
}

} // namespace gpureg
