// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalMeasure.h"

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"
#include "gpureg/metric/histogram/MattesMetric.h"
#include "gpureg/metric/pairs/PairMetric.h"

#include "engine/metric/histogram/EntropySums.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/registration/global/MeasureByMetric.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpureg
{

namespace
{
class CorrelationRatio : public MeasureByBatches<CorrelationRatioMetric>
{
public:
  CorrelationRatio(const std::string & deviceName, int bins)
    : MeasureByBatches(deviceName, bins)
    , m_Bins(bins)
  {}

  MeasuredForces
  FindForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const auto result = this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, parallelFor);
    return MakeForces(this->MakeValue(result), result, 2.0 / result.all);
  }

  double
  FindUnrelated(const std::vector<double> &, const std::vector<double> &) const override
  {
    return 1;
  }

protected:
  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    DescribeByBins(fixed, moving, 0, m_Bins, 1, samples, image);
  }

  MeasuredValue
  MakeValue(const CorrelationRatioResult & result) const override
  {
    // If the moving values do not vary, there is nothing to explain. Each square is known to 2^-22, so the ratio is known to 1e-3 at least,
    // and nearly always to 1e-6.
    const double least = 1.5e3 / (1 << 22) * std::sqrt(result.count);
    const bool   isKnown = result.count > 0 && result.all > least;
    return { result.count, isKnown ? result.within / result.all : 0.0, isKnown };
  }

private:
  int m_Bins;
};

/** Mattes' mutual information, normalised or not. */
class Information : public MeasureByBatches<MattesMetric>
{
public:
  Information(const std::string & deviceName, int bins, bool isNormalized)
    : MeasureByBatches(deviceName, bins)
    , m_Bins(bins)
    , m_IsNormalized(isNormalized)
  {}

  MeasuredForces
  FindForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const auto result =
      this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, m_IsNormalized, parallelFor);
    const auto value = this->MakeValue(FindMutualInformation(result, m_Bins));
    return MakeForces(value, result, 1.0 / value.count);
  }

  double
  FindUnrelated(const std::vector<double> &, const std::vector<double> &) const override
  {
    return m_IsNormalized ? -1 : 0;
  }

protected:
  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    constexpr int padding = kernels::HistogramPadding;
    DescribeByBins(fixed, moving, padding, m_Bins - 2 * padding, GetMattesRangeEnd(m_Bins), samples, image);
  }

  MeasuredValue
  MakeValue(const MutualInformation & result) const override
  {
    // Values that all lie in one cell have no entropy.
    const double value = m_IsNormalized ? result.normalized : result.mutualInformation;
    const bool   isKnown = result.count > 0 && std::isfinite(value);
    return { result.count, isKnown ? -value : 0.0, isKnown };
  }

private:
  int  m_Bins;
  bool m_IsNormalized;
};

/** A measure that is a sum over pairs of values. */
class Pairs : public MeasureByBatches<PairMetric>
{
public:
  Pairs(const std::string & deviceName, PairMeasure measure)
    : MeasureByBatches(deviceName, measure)
    , m_Measure(measure)
  {}

  MeasuredForces
  FindForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const PairResult result = this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, parallelFor);
    const double     factor = m_Measure == PairMeasure::Correlation
                                ? -2.0 * result.products / (result.fixedSquares * result.movingSquares)
                                : (m_Measure == PairMeasure::MeanSquares ? -2.0 : -1.0) / result.count;
    return MakeForces(this->MakeValue(result), result, factor);
  }

  /** Pairs each voxel with one that is far away, and returns the value of these pairs. */
  double
  FindUnrelated(const std::vector<double> & fixed, const std::vector<double> & moving) const override
  {
    if (m_Measure == PairMeasure::Correlation)
    {
      return 0;
    }
    constexpr std::size_t step = 7919; // a prime, so that the order of the moving values is arbitrary
    const auto            bounds = [](const std::vector<double> & values) {
      const auto both = std::minmax_element(values.begin(), values.end());
      return std::make_pair(*both.first, *both.second);
    };
    const auto   ofFixed = bounds(fixed);
    const auto   ofMoving = bounds(moving);
    const double range = std::max(ofFixed.second, ofMoving.second) - std::min(ofFixed.first, ofMoving.first);
    double       sum = 0;
    for (std::size_t n = 0; n < fixed.size(); ++n)
    {
      const double difference = std::abs(fixed[n] - moving[(n + 1) * step % moving.size()]) / range;
      sum += m_Measure == PairMeasure::MeanSquares ? difference * difference : difference;
    }
    return sum / static_cast<double>(fixed.size());
  }

protected:
  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    DescribeForPairs(m_Measure, fixed, moving, samples, image);
  }

  MeasuredValue
  MakeValue(const PairResult & result) const override
  {
    const bool   isCorrelation = m_Measure == PairMeasure::Correlation;
    const double both = result.fixedSquares * result.movingSquares;
    const bool   isKnown = result.count > 0 && (!isCorrelation || both > 0);
    const double value = !isKnown        ? 0.0
                         : isCorrelation ? -result.products * result.products / both
                                         : result.differences / result.count;
    return { result.count, value, isKnown };
  }

private:
  PairMeasure m_Measure;
};
} // namespace

double
SumAlong(const ForceResult & forces, const IndexMap & change)
{
  double sum = 0;
  for (std::size_t c = 0; c < 3; ++c)
  {
    double ofCentre = change.offset[c];
    for (std::size_t d = 0; d < 3; ++d)
    {
      const double ofMatrix = change.matrix[3 * c + d];
      ofCentre += ofMatrix * forces.centre[d];
      sum += ofMatrix * forces.forceSums[3 + 3 * d + c];
    }
    sum += ofCentre * forces.forceSums[c];
  }
  return sum;
}

std::unique_ptr<GlobalMeasure>
MakeGlobalMeasure(GlobalCost cost, const std::string & deviceName, int bins)
{
  switch (cost)
  {
    case GlobalCost::MattesMutualInformation:
    case GlobalCost::NormalizedMutualInformation:
      return std::make_unique<Information>(deviceName, bins, cost == GlobalCost::NormalizedMutualInformation);
    case GlobalCost::Correlation:
      return std::make_unique<Pairs>(deviceName, PairMeasure::Correlation);
    case GlobalCost::MeanSquares:
      return std::make_unique<Pairs>(deviceName, PairMeasure::MeanSquares);
    case GlobalCost::MeanAbsoluteDifferences:
      return std::make_unique<Pairs>(deviceName, PairMeasure::MeanAbsoluteDifferences);
    default:
      return std::make_unique<CorrelationRatio>(deviceName, bins);
  }
}

} // namespace gpureg
