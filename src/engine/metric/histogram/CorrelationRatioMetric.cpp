// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/histogram/CorrelationRatioMetric.h"

#include "engine/metric/histogram/CorrelationRatioEvaluation.h"
#include "engine/metric/histogram/ResolvedRatio.h"
#include "engine/metric/SimilarityChoices.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

namespace
{
/** The number of steps by which a float resolves a value in [0, 1]. */
constexpr double MostOfFloat = 1 << 27;

/** Returns (Σ Y)²/N. */
double
SquareOfSum(double count, double sum)
{
  return count > 0 ? sum * sum / count : 0.0;
}
} // namespace

class CorrelationRatioMetric::Implementation : public CorrelationRatioEvaluation
{
public:
  using CorrelationRatioEvaluation::CorrelationRatioEvaluation;
};

CorrelationRatioMetric::CorrelationRatioMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins(SimilarityKind::CorrelationRatio, bins))
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

void
CorrelationRatioMetric::SetLaunchShape(const LaunchShape & shape)
{
  m_Implementation->SetLaunchShape(shape);
}

LaunchShape
CorrelationRatioMetric::GetUsedLaunchShape() const
{
  return m_Implementation->GetUsedLaunchShape();
}

void
CorrelationRatioMetric::SetArguments(kernels::CorrelationRatioArguments & a) const
{
  if (m_BorderWeight.IsOn())
  {
    a.histogram.samples.variant |= kernels::WeighsBorder;
    std::copy(m_BorderWeight.perVoxel.begin(), m_BorderWeight.perVoxel.end(), a.border.perVoxel);
    std::copy(m_BorderWeight.perMillimetre.begin(), m_BorderWeight.perMillimetre.end(), a.border.perMillimetre);
  }
  SetCorrelationRatioArguments(m_Bins, a);
}

CorrelationRatioResult
CorrelationRatioMetric::Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor)
{
  return MakeResult(m_Implementation->Evaluate(
    mapping, forces, CorrelationRatioNeeds, parallelFor, [this](kernels::CorrelationRatioArguments & a) {
      this->SetArguments(a);
    }));
}

std::vector<CorrelationRatioResult>
CorrelationRatioMetric::EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
{
  std::vector<CorrelationRatioResult> results;
  const auto                          summaries =
    m_Implementation->Summarize(candidates,
                                CorrelationRatioNeeds,
                                parallelFor,
                                [this](kernels::CorrelationRatioArguments & a) { this->SetArguments(a); });
  if (!summaries)
  {
    for (std::int64_t n = 0; n < candidates.count; ++n)
    {
      results.push_back(this->Evaluate(MakeMapping(candidates, n), Forces::None, parallelFor));
    }
    return results;
  }
  const double unit = GetSumUnit(summaries->countUnit);
  for (const auto & sums : summaries->sums)
  {
    // The order of the sums is that of kernels/metric/histogram/CorrelationRatioKernels.h.
    CorrelationRatioResult result;
    result.within = static_cast<double>(sums[0]) / unit;
    result.all = static_cast<double>(sums[1]) / unit;
    result.count = static_cast<double>(sums[m_BorderWeight.IsOn() ? 3 : 2]) / unit;
    result.isResolved = IsResolved(result, unit);
    results.push_back(result);
  }
  return results;
}

double
CorrelationRatioMetric::GetSumUnit(double countUnit) const
{
  return GetCorrelationRatioUnit(countUnit, GetCore().samples.IsFixedPoint() || m_BorderWeight.IsOn());
}

bool
CorrelationRatioMetric::IsResolved(const CorrelationRatioResult & result, double unit) const
{
  constexpr double tolerance = 1e-6;
  const double     known = GetCore().samples.IsFixedPoint() ? unit : std::min(unit, MostOfFloat);
  return IsRatioResolved(result, known, tolerance);
}

CorrelationRatioResult
CorrelationRatioMetric::MakeResult(const HistogramResult & sums) const
{
  CorrelationRatioResult result;
  static_cast<ForceResult &>(result) = sums;
  const bool   isWeighted = m_BorderWeight.IsOn();
  const double unit = GetSumUnit(sums.countUnit);
  const auto   rows = static_cast<std::size_t>(m_Bins + m_Bins % 2);
  const auto   columns = sums.histogram.size() / rows;
  double       weights = 0, sum = 0, squares = 0, explained = 0;
  for (std::size_t row = 0; row < rows; ++row)
  {
    const auto * const entries = &sums.histogram[row * columns];
    const auto         get = [entries, unit](int column) { return static_cast<double>(entries[column]) / unit; };
    const double       weightsOfBin = get(kernels::CorrelationRatioCount);
    const double       sumOfBin = get(kernels::CorrelationRatioSum);
    explained += SquareOfSum(weightsOfBin, sumOfBin);
    result.count += isWeighted ? get(kernels::CorrelationRatioPoints) : weightsOfBin;
    weights += weightsOfBin;
    sum += sumOfBin;
    squares += get(kernels::CorrelationRatioSquares);
  }
  result.within = squares - explained;
  result.all = squares - SquareOfSum(weights, sum);
  result.isResolved = IsResolved(result, unit);
  return result;
}

} // namespace gpureg
