// SPDX-License-Identifier: Apache-2.0
#include "gpureg/CorrelationRatioMetric.h"

#include "CorrelationRatioPasses.h"
#include "HistogramEvaluation.h"

#include <cmath>
#include <memory>
#include <string>

namespace gpureg
{

namespace
{
constexpr int LeastBins = 2;
constexpr int MostBins = 4096;

// What pays for a chunk's sums.
constexpr int LeastSamplesPerChunk = 1024;

int
CheckedBins(int bins)
{
  if (bins < LeastBins || bins > MostBins)
  {
    throw BadInputError("a correlation ratio has " + std::to_string(LeastBins) + " to " + std::to_string(MostBins) +
                        " bins, not " + std::to_string(bins) + "; set another number of bins");
  }
  return bins;
}

/** As fine as the 32-bit sums of a chunk of values up to 1 allow; beyond 2^22 a float's own rounding is coarser. */
float
FindCountUnit(const kernels::SampleArguments & a, int lanes)
{
  if (a.variant & kernels::SamplesArePrecise)
  {
    return GPUREG_PRECISE_COUNT_UNIT;
  }
  float unit = 1 << 18;
  for (int samples = lanes * a.tileDepth; 2 * samples <= kernels::MostSamplesOfCorrelationRatio + 1 && unit < 1 << 22;
       samples *= 2)
  {
    unit *= 2;
  }
  return unit;
}

/** Σ Y² - (Σ Y)²/N. */
double
SumDeviations(double count, double sum, double squares)
{
  return count > 0 ? squares - sum * sum / count : 0.0;
}
} // namespace

class CorrelationRatioMetric::Implementation : public HistogramEvaluation<kernels::CorrelationRatioArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

CorrelationRatioMetric::CorrelationRatioMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins(bins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), GetCore().queue->CreateCorrelationRatioPasses()))
{}

CorrelationRatioMetric::~CorrelationRatioMetric()
{
  FreeUnlessForked(m_Implementation);
}

CorrelationRatioResult
CorrelationRatioMetric::Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor)
{
  const HistogramResult sums =
    m_Implementation->Evaluate(mapping,
                               forces,
                               { LeastSamplesPerChunk, kernels::MostSamplesOfCorrelationRatio, 1.0 },
                               parallelFor,
                               [&](kernels::CorrelationRatioArguments & a, const SampleGrain & grain) {
                                 a.histogram.rows = m_Bins;
                                 a.histogram.columns = kernels::CorrelationRatioColumns;
                                 a.histogram.tableColumns = kernels::CorrelationRatioTableColumns;
                                 a.histogram.countUnit = FindCountUnit(a.histogram.samples, grain.lanes);
                               });
  CorrelationRatioResult result;
  static_cast<ForceResult &>(result) = sums;
  // Of a chunk's cells: see kernels::ReadChunk.
  const double unit =
    sums.countUnit * (GetCore().samples.IsPrecise() ? 1.0 : double{ 1 << kernels::CorrelationRatioRestBits });
  double sum = 0, squares = 0;
  for (int bin = 0; bin < m_Bins; ++bin)
  {
    const auto * const cells = &sums.histogram[static_cast<std::size_t>(bin) * kernels::CorrelationRatioColumns];
    const double       count = static_cast<double>(cells[kernels::CorrelationRatioCount]) / unit;
    const double       sumOfBin = static_cast<double>(cells[kernels::CorrelationRatioSum]) / unit;
    const double       squaresOfBin = static_cast<double>(cells[kernels::CorrelationRatioSquares]) / unit;
    result.within += SumDeviations(count, sumOfBin, squaresOfBin);
    result.count += count;
    sum += sumOfBin;
    squares += squaresOfBin;
  }
  result.all = SumDeviations(result.count, sum, squares);
  // Each sample's square is rounded by half a unit at most: together by half a unit times the root of their number, hardly
  // more than once in three times. Three times that is hardly ever exceeded.
  result.isResolved = 1e-6 * result.all > 1.5 / unit * std::sqrt(result.count);
  return result;
}

} // namespace gpureg
