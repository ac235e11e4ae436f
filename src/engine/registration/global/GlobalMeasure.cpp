// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/GlobalMeasure.h"

#include "gpureg/core/Error.h"
#include "gpureg/metric/histogram/CorrelationRatioMetric.h"
#include "gpureg/metric/histogram/JointHistogramMetric.h"
#include "gpureg/metric/histogram/MattesMetric.h"
#include "gpureg/metric/histogram/PartialVolumeMetric.h"
#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"
#include "gpureg/metric/pairs/PairMetric.h"

#include "engine/filter/DiscreteGaussian.h"
#include "engine/metric/histogram/EntropySums.h"
#include "engine/metric/histogram/JointHistogramPasses.h"
#include "engine/metric/histogram/ResolvedRatio.h"
#include "engine/metric/pairs/PairEvaluation.h"
#include "engine/registration/global/MeasureByMetric.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gpureg
{

namespace
{
/** A sum over pairs of values. */
class Pairs : public MeasureByBatches<PairMetric>
{
public:
  Pairs(const SimilaritySettings & settings, const std::string & deviceName)
    : MeasureByBatches(settings, deviceName, GetPairMeasure(settings.kind))
  {}

  MeasuredForces
  ComputeForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const PairResult result = this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, parallelFor);
    const double     sumUnit =
      this->IsCorrelation() ? 2.0 * result.products / (result.fixedSquares * result.movingSquares) : 1.0 / result.count;
    return this->MakeForces(this->MakeValue(result), result, sumUnit);
  }

protected:
  MeasuredValue
  MakeValue(const PairResult & result) const override
  {
    if (!this->IsCorrelation())
    {
      return this->MakeCost(result.count, result.differences / result.count, result.count > 0);
    }
    const double both = result.fixedSquares * result.movingSquares;
    return this->MakeCost(result.count, result.products * result.products / both, result.count > 0 && both > 0);
  }

private:
  bool
  IsCorrelation() const
  {
    return this->GetSettings().kind == SimilarityKind::Correlation;
  }
};

class CorrelationRatio : public MeasureByBatches<CorrelationRatioMetric>
{
public:
  CorrelationRatio(const SimilaritySettings & settings, const std::string & deviceName)
    : MeasureByBatches(settings, deviceName, settings.bins)
  {}

  MeasuredForces
  ComputeForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const auto result = this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, parallelFor);
    return this->MakeForces(this->MakeValue(result), result, 1.0 / result.all);
  }

protected:
  MeasuredValue
  MakeValue(const CorrelationRatioResult & result) const override
  {
    // If the moving values do not vary, there is nothing to explain. Each square is known to 2^-22 at least, and the ratio nearly always to
    // 1e-6.
    constexpr double known = 1 << 22;
    constexpr double tolerance = 1e-3;
    return this->MakeCost(result.count,
                          result.within / result.all,
                          result.count > 0 && IsRatioResolved(result, known, tolerance));
  }
};

/** Mattes' mutual information, normalised or not. */
class ParzenInformation : public MeasureByBatches<MattesMetric>
{
public:
  ParzenInformation(const SimilaritySettings & settings, const std::string & deviceName)
    : MeasureByBatches(settings, deviceName, settings.bins)
  {}

  MeasuredForces
  ComputeForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const auto result =
      this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, this->IsNormalized(), parallelFor);
    const auto value = this->MakeValue(ComputeMutualInformation(result, this->GetSettings().bins));
    return this->MakeForces(value, result, 1.0 / value.count);
  }

protected:
  MeasuredValue
  MakeValue(const MutualInformation & result) const override
  {
    // Values that all lie in one cell have no entropy.
    const double value = this->IsNormalized() ? result.normalized : result.mutualInformation;
    return this->MakeCost(result.count, value, result.count > 0 && std::isfinite(value));
  }

private:
  bool
  IsNormalized() const
  {
    return this->GetSettings().kind == SimilarityKind::NormalizedMutualInformation;
  }
};

/** The mutual information, in bits, of a joint histogram of nearest bins, smoothed as in
 *  itk::JointHistogramMutualInformationImageToImageMetricv4. */
class JointHistogramInformation : public MeasureByMetric<JointHistogramMetric>
{
public:
  JointHistogramInformation(const SimilaritySettings & settings, const std::string & deviceName)
    : MeasureByMetric(settings, deviceName, settings.bins)
  {
    constexpr double variance = 1.5; // ITK's
    constexpr double missing = 0.01;
    m_Options.smoothing = MakeDiscreteGaussian(variance, missing, 1, kernels::MostSmoothingWeights);
    m_Options.leastDensity = std::numeric_limits<double>::epsilon();
    m_Options.tiesGoDown.assign(static_cast<std::size_t>(settings.bins), false);
  }

  std::vector<MeasuredValue>
  ComputeValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) override
  {
    std::vector<MeasuredValue> values;
    for (const JointHistogramValue & result : this->GetMetric().EvaluateBatch(candidates, m_Options, parallelFor))
    {
      values.push_back(this->MakeCost(static_cast<double>(result.count), result.mutualInformation, result.count > 0));
    }
    return values;
  }

  /** Throws: nearest bins have no derivative. ITK's metric of that name returns an uphill direction that is not the value's derivative. */
  MeasuredForces
  ComputeForces(const IndexMap &, const ParallelFor &) override
  {
    throw UnsupportedError("a joint histogram of nearest bins has no derivative; Mattes' mutual information has one");
  }

private:
  JointHistogramOptions m_Options;
};

/** The mutual information by partial volume (Maes 1997). */
class PartialVolumeInformation : public MeasureByBatches<PartialVolumeMetric>
{
public:
  PartialVolumeInformation(const SimilaritySettings & settings, const std::string & deviceName)
    : MeasureByBatches(settings, deviceName, settings.bins)
  {}

  MeasuredForces
  ComputeForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    constexpr std::array<double, 9> byIndex{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const PartialVolumeResult       result =
      this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, false, byIndex, parallelFor);
    const auto value = this->MakeValue(ComputeMutualInformation(result, this->GetSettings().bins));
    return this->MakeForces(value, result, 1.0 / value.count);
  }

protected:
  MeasuredValue
  MakeValue(const MutualInformation & result) const override
  {
    return this->MakeCost(result.count, result.mutualInformation, result.count > 0);
  }
};

/** The mean correlation over neighborhoods (Avants 2008). Its derivative includes all neighborhoods that contain a voxel, whereas ITK's
 *  derivative includes the voxel's own neighborhood alone. */
class NeighborhoodCorrelation : public MeasureByMetric<NeighborhoodCorrelationMetric>
{
public:
  NeighborhoodCorrelation(const SimilaritySettings & settings, const std::string & deviceName)
    : MeasureByMetric(settings, deviceName)
  {
    m_Terms.radius.fill(static_cast<std::uint64_t>(settings.radius));
    m_Terms.flat = GetFlatNeighborhoodsOfITK<double, double, double>();
    m_Terms.forcesAreOfValue = true;
  }

  std::vector<MeasuredValue>
  ComputeValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) override
  {
    std::vector<MeasuredValue> values;
    for (const NeighborhoodResult & result : this->GetMetric().EvaluateBatch(candidates, m_Terms, parallelFor))
    {
      values.push_back(this->MakeValue(result));
    }
    return values;
  }

  MeasuredForces
  ComputeForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const NeighborhoodResult result =
      this->GetMetric().Evaluate(MakeLinearMapping(toMoving), m_Terms, Forces::OfEachSample, parallelFor);
    return this->MakeForces(this->MakeValue(result), this->GetMetric().SumForces(parallelFor), 1.0 / result.count);
  }

private:
  MeasuredValue
  MakeValue(const NeighborhoodResult & result) const
  {
    return this->MakeCost(result.count, result.correlations / result.count, result.count > 0);
  }

  NeighborhoodTerms m_Terms;
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
MakeGlobalMeasure(const SimilaritySettings & settings, const std::string & deviceName)
{
  switch (settings.kind)
  {
    case SimilarityKind::CorrelationRatio:
      return std::make_unique<CorrelationRatio>(settings, deviceName);
    case SimilarityKind::MattesMutualInformation:
    case SimilarityKind::NormalizedMutualInformation:
      return std::make_unique<ParzenInformation>(settings, deviceName);
    case SimilarityKind::JointHistogramMutualInformation:
      return std::make_unique<JointHistogramInformation>(settings, deviceName);
    case SimilarityKind::PartialVolumeMutualInformation:
      return std::make_unique<PartialVolumeInformation>(settings, deviceName);
    case SimilarityKind::NeighborhoodCorrelation:
      return std::make_unique<NeighborhoodCorrelation>(settings, deviceName);
    default:
      return std::make_unique<Pairs>(settings, deviceName);
  }
}

} // namespace gpureg
