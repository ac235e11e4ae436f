// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/free_form/FreeFormSimilarity.h"

#include "engine/metric/histogram/CorrelationRatioEvaluation.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/metric/neighborhood/NeighborhoodEvaluation.h"
#include "engine/metric/pairs/PairEvaluation.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpureg
{

namespace
{
/** A similarity whose evaluation stores its forces and its value in its own arrays. \tparam TEvaluation such as PairEvaluation */
template <typename TEvaluation>
class EvaluatedSimilarity : public FreeFormSimilarity
{
public:
  /** \param arguments the evaluation's arguments behind the core */
  template <typename... TArguments>
  EvaluatedSimilarity(MetricCore & core, const FreeFormSettings & settings, TArguments &&... arguments)
    : FreeFormSimilarity(core, settings)
    , m_Evaluation(core, std::forward<TArguments>(arguments)...)
  {}

  const Memory &
  GetForces() const override
  {
    return m_Evaluation.GetForces();
  }

  const Memory &
  GetEvaluated() const override
  {
    return m_Evaluation.GetEvaluated();
  }

protected:
  TEvaluation &
  GetEvaluation()
  {
    return m_Evaluation;
  }

  const TEvaluation &
  GetEvaluation() const
  {
    return m_Evaluation;
  }

private:
  TEvaluation m_Evaluation;
};

/** A similarity that has a histogram; the value follows the table. \tparam TArguments the arguments of its kernels */
template <typename TArguments>
class HistogramSimilarity : public EvaluatedSimilarity<HistogramEvaluation<TArguments>>
{
public:
  HistogramSimilarity(MetricCore &                                 core,
                      const FreeFormSettings &                     settings,
                      std::unique_ptr<HistogramPasses<TArguments>> passes)
    : EvaluatedSimilarity<HistogramEvaluation<TArguments>>(core, settings, std::move(passes))
    , m_Bins(settings.bins)
  {}

  void
  Prepare(const SampleMapping & mapping) override
  {
    this->GetEvaluation().Prepare(mapping, Forces::OfEachSample, this->GetNeeds(), [this](TArguments & a) {
      this->SetArguments(a);
    });
  }

  void
  EnqueueForces() override
  {
    this->GetEvaluation().EnqueuePasses(Forces::OfEachSample);
  }

  void
  EnqueueValue() override
  {
    this->GetEvaluation().EnqueueTable();
  }

  std::int64_t
  GetEvaluatedPlace() const override
  {
    return this->GetEvaluation().GetTableFloats();
  }

protected:
  virtual HistogramNeeds
  GetNeeds() const = 0;
  virtual void
  SetArguments(TArguments & a) const = 0;

  int
  GetBins() const
  {
    return m_Bins;
  }

private:
  int m_Bins;
};

/** Normalised mutual information with Parzen windows (Modat 2010, equation 2). */
class MutualInformation : public HistogramSimilarity<kernels::MattesArguments>
{
public:
  MutualInformation(MetricCore & core, const FreeFormSettings & settings)
    : HistogramSimilarity(core, settings, MakePasses<MattesPasses>(*core.queue))
  {}

  double
  GetSign() const override
  {
    return -1;
  }

  double
  GetForceUnit() const override
  {
    // The Parzen windows are counted in the histogram's units, and the forces are those of the value with its sign.
    return this->GetEvaluation().GetCountUnit();
  }

protected:
  HistogramNeeds
  GetNeeds() const override
  {
    return GetMattesNeeds(this->GetBins());
  }

  void
  SetArguments(kernels::MattesArguments & a) const override
  {
    SetMattesArguments(this->GetCore().samples.GetMoving(), this->GetBins(), a);
    a.normalized = 1;
  }

  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    constexpr int padding = kernels::HistogramPadding;
    const int     bins = this->GetBins();
    DescribeByBins(fixed, moving, padding, bins - 2 * padding, GetMattesRangeEnd(bins), samples, image);
  }
};

/** The correlation ratio as 1 - η, which is minimised. */
class CorrelationRatio : public HistogramSimilarity<kernels::CorrelationRatioArguments>
{
public:
  CorrelationRatio(MetricCore & core, const FreeFormSettings & settings)
    : HistogramSimilarity(core, settings, MakePasses<CorrelationRatioPasses>(*core.queue))
  {}

  double
  GetSign() const override
  {
    return 1;
  }

  double
  GetForceUnit() const override
  {
    // See kernels/CorrelationRatio.h: the sums of squares have a unit.
    return 2 * GetCorrelationRatioUnit(this->GetEvaluation().GetCountUnit(), false);
  }

protected:
  HistogramNeeds
  GetNeeds() const override
  {
    return CorrelationRatioNeeds;
  }

  void
  SetArguments(kernels::CorrelationRatioArguments & a) const override
  {
    SetCorrelationRatioArguments(this->GetBins(), a);
  }

  void
  Describe(const LevelImage & fixed,
           const LevelImage & moving,
           FixedSamples &     samples,
           MovingImage &      image) const override
  {
    DescribeByBins(fixed, moving, 0, this->GetBins(), 1, samples, image);
  }
};

/** Mean squares or correlation. */
class Pairs : public EvaluatedSimilarity<PairEvaluation>
{
public:
  Pairs(MetricCore & core, const FreeFormSettings & settings, PairMeasure measure)
    : EvaluatedSimilarity(core, settings, measure)
    , m_Measure(measure)
  {}

  void
  Prepare(const SampleMapping & mapping) override
  {
    this->GetEvaluation().Prepare(mapping, Forces::OfEachSample, {});
    this->GetEvaluation().PrepareValue(mapping);
  }

  void
  EnqueueForces() override
  {
    this->GetEvaluation().EnqueuePasses(Forces::OfEachSample);
    if (m_Measure != PairMeasure::Correlation)
    {
      this->GetEvaluation().EnqueueSimilarity();
    }
  }

  void
  EnqueueValue() override
  {
    this->GetEvaluation().EnqueueValue();
  }

  double
  GetSign() const override
  {
    return m_Measure == PairMeasure::Correlation ? -1 : 1;
  }

  double
  GetForceUnit() const override
  {
    // Forces of squares are minus half of their derivative; see PairMeasure.
    return m_Measure == PairMeasure::Correlation ? -1 : -2;
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

private:
  PairMeasure m_Measure;
};

/** The mean correlation over neighborhoods (Avants 2008). */
class NeighborhoodCorrelation : public EvaluatedSimilarity<NeighborhoodEvaluation>
{
public:
  NeighborhoodCorrelation(MetricCore & core, const FreeFormSettings & settings)
    : EvaluatedSimilarity(core, settings)
  {
    m_Terms.radius.fill(static_cast<std::uint64_t>(settings.radius));
    m_Terms.epsilon = LeastSquares;
    m_Terms.epsilonIsOfScaledValues = true;
    m_Terms.forcesAreOfValue = true;
  }

  void
  Prepare(const SampleMapping & mapping) override
  {
    this->GetEvaluation().CheckIsPossible();
    this->GetEvaluation().Prepare(mapping,
                                  m_Terms,
                                  Forces::OfEachSample,
                                  NeighborhoodCorrelationMetric::DefaultSlabBytes);
  }

  void
  EnqueueForces() override
  {
    this->GetEvaluation().EnqueuePasses();
    this->GetEvaluation().EnqueueSimilarity();
  }

  void
  EnqueueValue() override
  {
    this->GetEvaluation().EnqueuePasses(false);
    this->GetEvaluation().EnqueueSimilarity();
  }

  double
  GetSign() const override
  {
    return -1;
  }

  double
  GetForceUnit() const override
  {
    return -1;
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
  // The sum of squares that rounding leaves of a flat region with values up to 1: 729 voxels that deviate by 1e-6. Less is no structure.
  static constexpr double LeastSquares = 1e-9;

  NeighborhoodTerms m_Terms;
};
} // namespace

void
FreeFormSimilarity::SetImages(
  const LevelImage & fixed, const LevelImage & moving, int dimension, int level, const ParallelFor & parallelFor)
{
  FixedSamples samples = MakeLevelSamples(fixed);
  MovingImage  image = MakeLevelMoving(moving, dimension, this->HasForcesByIndex());
  this->Describe(fixed, moving, samples, image);
  m_All = samples;
  m_Number = level;
  m_ParallelFor = parallelFor;
  m_Subsample = m_SampleCount > 0 ? RegularSubsample(fixed.image->GetSize(), GetSpacing(fixed.toPoint), m_SampleCount)
                                  : RegularSubsample(fixed.image->GetSize());
  m_Core.samples.SetMoving(image, m_Core.readsQuads, parallelFor);
  if (this->DrawsSamples())
  {
    this->Draw(0);
  }
  else
  {
    this->TakeAllVoxels();
  }
}

void
FreeFormSimilarity::Draw(std::uint32_t iteration)
{
  m_SampleToVoxel = m_Subsample.Place({ m_Seed, static_cast<std::uint32_t>(m_Number), iteration, 0 });
  FixedSamples drawn = m_All;
  drawn.virtualSize = m_Subsample.GetSize();
  drawn.sampled->isOneGrid = false;
  drawn.sampled->toImage = m_SampleToVoxel;
  this->SetFixed(drawn);
}

void
FreeFormSimilarity::TakeAllVoxels()
{
  m_SampleToVoxel = {};
  this->SetFixed(m_All);
}

void
FreeFormSimilarity::SetFixed(const FixedSamples & samples)
{
  m_Core.samples.SetFixed(samples, m_ParallelFor);
}

std::unique_ptr<FreeFormSimilarity>
MakeFreeFormSimilarity(const FreeFormSettings & settings, MetricCore & core)
{
  switch (settings.similarity)
  {
    case SimilarityKind::CorrelationRatio:
      return std::make_unique<CorrelationRatio>(core, settings);
    case SimilarityKind::MeanSquares:
      return std::make_unique<Pairs>(core, settings, PairMeasure::MeanSquares);
    case SimilarityKind::Correlation:
      return std::make_unique<Pairs>(core, settings, PairMeasure::Correlation);
    case SimilarityKind::NeighborhoodCorrelation:
      return std::make_unique<NeighborhoodCorrelation>(core, settings);
    default:
      return std::make_unique<MutualInformation>(core, settings);
  }
}

} // namespace gpureg
