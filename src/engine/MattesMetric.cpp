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
// With fewer, a chunk's histogram costs more to clear, keep and sum than its samples to count. No more, since up to here
// the histogram's unit is the finest: in units of 2^-20, sparse histograms miss ITK's derivative by more than 1e-4.
constexpr int LeastSamplesPerChunk = 1024;

// The marginals of so many bins fit into the local memory of every GPU.
constexpr int MaximumBins = 4096;

int
CheckedBins(int bins)
{
  if (bins <= 2 * kernels::HistogramPadding || bins > MaximumBins)
  {
    throw BadInputError("a joint histogram has 5 to " + std::to_string(MaximumBins) + " bins, not " +
                        std::to_string(bins) + "; set another number of bins");
  }
  return bins;
}

/** One count of the histogram: as fine as a chunk's 32-bit counts allow; beyond 2^22 a float's own rounding is coarser. */
float
FindCountUnit(const kernels::SampleArguments & a, int lanes)
{
  if (a.variant & kernels::SamplesArePrecise)
  {
    return GPUREG_PRECISE_COUNT_UNIT;
  }
  float unit = 1 << 18;
  for (int samples = lanes * a.tileDepth; 2 * samples <= kernels::MaximumSamplesPerChunk && unit < 1 << 22;
       samples *= 2)
  {
    unit *= 2;
  }
  return unit;
}
} // namespace

class MattesMetric::Implementation : public HistogramEvaluation<kernels::MattesArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

MattesMetric::MattesMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins(bins))
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
  HistogramResult     result =
    m_Implementation->Evaluate(mapping,
                               forces,
                               { LeastSamplesPerChunk, kernels::MaximumSamplesPerChunk, rangeEnd },
                               parallelFor,
                               [&](kernels::MattesArguments & a, const SampleGrain & grain) {
                                 a.histogram.rows = a.histogram.columns = a.histogram.tableColumns = m_Bins;
                                 a.histogram.countUnit = FindCountUnit(a.histogram.samples, grain.lanes);
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
