// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/global/OtherMeasures.h"

#include "gpureg/core/Error.h"
#include "gpureg/metric/histogram/JointHistogramMetric.h"
#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"
#include "gpureg/metric/histogram/PartialVolumeMetric.h"

#include "engine/filter/DiscreteGaussian.h"
#include "engine/metric/histogram/JointHistogramPasses.h"
#include "engine/registration/LevelSamples.h"
#include "engine/registration/global/MeasureByMetric.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace gpureg
{

namespace
{
/** The negative of the mutual information, in bits, of a joint histogram of nearest bins, smoothed as in
 *  itk::JointHistogramMutualInformationImageToImageMetricv4. */
class JointHistogramInformation : public MeasureByMetric<JointHistogramMetric>
{
public:
  JointHistogramInformation(const std::string & deviceName, int bins)
    : MeasureByMetric(deviceName, bins)
    , m_Bins(bins)
  {
    constexpr double variance = 1.5; // ITK's
    constexpr double missing = 0.01;
    m_Options.smoothing = MakeDiscreteGaussian(variance, missing, 1, kernels::MostSmoothingWeights);
    m_Options.leastDensity = std::numeric_limits<double>::epsilon();
    m_Options.tiesGoDown.assign(static_cast<std::size_t>(bins), false);
  }

  std::vector<MeasuredValue>
  FindValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) override
  {
    std::vector<MeasuredValue> values;
    for (const JointHistogramValue & result : this->GetMetric().EvaluateBatch(candidates, m_Options, parallelFor))
    {
      values.push_back(MakeValue(result.count, result.mutualInformation));
    }
    return values;
  }

  /** Throws: nearest bins have no derivative. ITK's metric of that name returns an uphill direction that is not the value's derivative. */
  MeasuredForces
  FindForces(const IndexMap &, const ParallelFor &) override
  {
    throw UnsupportedError("a joint histogram of nearest bins has no derivative; Mattes' mutual information has one");
  }

protected:
  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    DescribeByNearestBins(
      fixed, moving, kernels::JointHistogramPadding, m_Bins - kernels::JointHistogramExtraBins, samples, image);
  }

private:
  static MeasuredValue
  MakeValue(std::uint64_t count, double information)
  {
    return { static_cast<double>(count), -information, count > 0 };
  }

  int                   m_Bins;
  JointHistogramOptions m_Options;
};

/** The negative of the mutual information by partial volume (Maes 1997). */
class PartialVolumeInformation : public MeasureByBatches<PartialVolumeMetric>
{
public:
  PartialVolumeInformation(const std::string & deviceName, int bins)
    : MeasureByBatches(deviceName, bins)
    , m_Bins(bins)
  {}

  MeasuredForces
  FindForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    constexpr std::array<double, 9> byIndex{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const PartialVolumeResult       result =
      this->GetMetric().Evaluate(MakeLinearMapping(toMoving), Forces::Summed, false, byIndex, parallelFor);
    if (std::all_of(result.histogram.begin(), result.histogram.end(), [](std::uint64_t count) { return count == 0; }))
    {
      return {};
    }
    const JointDensity density(std::vector<double>(result.histogram.begin(), result.histogram.end()),
                               static_cast<std::size_t>(m_Bins));
    const double       count = density.GetCountSum() / result.countUnit;
    return MakeForces(this->MakeValue({ count, density.GetMutualInformation(), 0 }), result, -1.0 / count);
  }

protected:
  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    DescribeByBinsOfBoth(fixed, moving, m_Bins, samples, image);
  }

  MeasuredValue
  MakeValue(const MutualInformation & result) const override
  {
    return { result.count, -result.mutualInformation, result.count > 0 };
  }

private:
  int m_Bins;
};

/** Returns Σ f and Σ f ⊗ x of the forces on a grid's voxels, where x is a voxel's index. */
ForceResult
SumForces(const std::vector<float> & forces, const Size & size)
{
  ForceResult result;
  auto        force = forces.begin();
  for (int k = 0; k < size[2]; ++k)
  {
    for (int j = 0; j < size[1]; ++j)
    {
      for (int i = 0; i < size[0]; ++i)
      {
        for (std::size_t c = 0; c < 3; ++c, ++force)
        {
          result.forceSums[c] += *force;
          result.forceSums[3 + c] += i * static_cast<double>(*force);
          result.forceSums[6 + c] += j * static_cast<double>(*force);
          result.forceSums[9 + c] += k * static_cast<double>(*force);
        }
      }
    }
  }
  return result;
}

/** The negative of the mean correlation over neighborhoods (Avants 2008). Its derivative includes all neighborhoods that contain a voxel,
 *  whereas ITK's derivative includes the voxel's own neighborhood alone. */
class NeighborhoodCorrelation : public MeasureByMetric<NeighborhoodCorrelationMetric>
{
public:
  NeighborhoodCorrelation(const std::string & deviceName, int radius)
    : MeasureByMetric(deviceName)
  {
    m_Terms.radius.fill(static_cast<std::uint64_t>(radius));
    m_Terms.epsilon = std::numeric_limits<double>::epsilon(); // as in ITK, for squares of unscaled values
    m_Terms.forcesAreOfValue = true;
  }

  std::vector<MeasuredValue>
  FindValues(const CandidateMaps & candidates, const ParallelFor & parallelFor) override
  {
    std::vector<MeasuredValue> values;
    for (const NeighborhoodResult & result : this->GetMetric().EvaluateBatch(candidates, m_Terms, parallelFor))
    {
      values.push_back(MakeValue(result));
    }
    return values;
  }

  MeasuredForces
  FindForces(const IndexMap & toMoving, const ParallelFor & parallelFor) override
  {
    const NeighborhoodResult result =
      this->GetMetric().Evaluate(MakeLinearMapping(toMoving), m_Terms, Forces::OfEachSample, parallelFor);
    const Size         size = this->GetFixed().image->GetSize();
    std::vector<float> forces(3 * static_cast<std::size_t>(this->GetFixed().image->GetCount()));
    this->GetMetric().TakeForces(
      [&forces](std::int64_t first, std::int64_t count, const float * in) {
        std::copy(in, in + 3 * count, forces.begin() + 3 * first);
      },
      parallelFor);
    return MakeForces(MakeValue(result), SumForces(forces, size), -1.0 / result.count);
  }

  bool
  HasForcesByIndex() const override
  {
    return false;
  }

protected:
  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    DescribeForNeighborhoods(fixed, moving, samples, image);
  }

private:
  static MeasuredValue
  MakeValue(const NeighborhoodResult & result)
  {
    return { result.count, result.count > 0 ? -result.correlations / result.count : 0.0, result.count > 0 };
  }

  NeighborhoodTerms m_Terms;
};
} // namespace

std::unique_ptr<GlobalMeasure>
MakeMeasure(const std::string & name, const std::string & deviceName, const MeasureSettings & settings)
{
  // The metrics check their number of bins themselves.
  if (name == "JointHistogramMutualInformation")
  {
    return std::make_unique<JointHistogramInformation>(deviceName, settings.bins);
  }
  if (name == "PartialVolumeMutualInformation")
  {
    return std::make_unique<PartialVolumeInformation>(deviceName, settings.bins);
  }
  if (name == "NeighborhoodCorrelation")
  {
    if (settings.radius < 1)
    {
      throw BadInputError("the radius is " + std::to_string(settings.radius) + "; set 1 voxel or more");
    }
    return std::make_unique<NeighborhoodCorrelation>(deviceName, settings.radius);
  }
  return MakeGlobalMeasure(GetGlobalCost(name), deviceName, settings.bins);
}

} // namespace gpureg
