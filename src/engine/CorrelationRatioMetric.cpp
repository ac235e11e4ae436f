// SPDX-License-Identifier: Apache-2.0
#include "gpureg/CorrelationRatioMetric.h"

#include "CorrelationRatioEvaluation.h"

#include <cmath>
#include <memory>
#include <string>

namespace gpureg
{

namespace
{
/** Σ Y² - (Σ Y)²/N. */
double
SumDeviations(double count, double sum, double squares)
{
  return count > 0 ? squares - sum * sum / count : 0.0;
}
} // namespace

class CorrelationRatioMetric::Implementation : public CorrelationRatioEvaluation
{
public:
  using CorrelationRatioEvaluation::CorrelationRatioEvaluation;
};

CorrelationRatioMetric::CorrelationRatioMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins("a correlation ratio", bins, LeastBins, MostBins))
  , m_Implementation(std::make_unique<Implementation>(GetCore()))
{}

CorrelationRatioMetric::~CorrelationRatioMetric()
{
  FreeUnlessForked(m_Implementation);
}

void
CorrelationRatioMetric::SetScheme(CorrelationRatioScheme scheme)
{
  m_Implementation->SetScheme(scheme);
}

CorrelationRatioScheme
CorrelationRatioMetric::GetScheme() const
{
  return m_Implementation->GetScheme();
}

void
CorrelationRatioMetric::SetWorkloadLimit(int samples)
{
  m_Implementation->SetWorkloadLimit(samples);
}

CorrelationRatioResult
CorrelationRatioMetric::Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor)
{
  const HistogramResult  sums = m_Implementation->Evaluate(mapping,
                                                          forces,
                                                          { kernels::MostSamplesOfCorrelationRatio, 1.0 },
                                                          parallelFor,
                                                          [&](kernels::CorrelationRatioArguments & a) {
                                                            a.histogram.rows = m_Bins;
                                                            a.histogram.columns = kernels::CorrelationRatioColumns;
                                                            a.histogram.tableColumns =
                                                              kernels::CorrelationRatioTableColumns;
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
