// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/LevelSimilarity.h"

#include "engine/core/NumberNames.h"
#include "engine/metric/histogram/CorrelationRatioEvaluation.h"
#include "engine/filter/LevelGeometry.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/metric/neighborhood/NeighborhoodEvaluation.h"
#include "engine/metric/pairs/PairEvaluation.h"
#include "engine/runtime/MakePasses.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace gpureg
{

namespace
{
/** A similarity whose evaluation stores its forces and its value in its own arrays. \tparam TEvaluation such as PairEvaluation */
template <typename TEvaluation>
class EvaluatedSimilarity : public LevelSimilarity
{
public:
  /** \param arguments the evaluation's arguments behind the core */
  template <typename... TArguments>
  EvaluatedSimilarity(MetricCore &               core,
                      const SimilaritySettings & settings,
                      const SampleDraws &        draws,
                      LevelForces                forces,
                      TArguments &&... arguments)
    : LevelSimilarity(core, settings, draws, forces)
    , m_Evaluation(core, std::forward<TArguments>(arguments)...)
  {}

  Memory &
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

/** A similarity that has a histogram; the value follows the table. \tparam TArguments the arguments of its kernels; TEvaluation: its
 *  HistogramEvaluation */
template <typename TArguments, typename TEvaluation = HistogramEvaluation<TArguments>>
class HistogramSimilarity : public EvaluatedSimilarity<TEvaluation>
{
public:
  using EvaluatedSimilarity<TEvaluation>::EvaluatedSimilarity;

  void
  Prepare(const SampleMapping & mapping) override
  {
    this->GetEvaluation().Prepare(mapping, Forces::OfEachSample, this->GetNeeds(), [this](TArguments & a) {
      this->SetArguments(a);
    });
  }

  void
  PlanEvaluation(const SampleMapping & mapping, const std::string & name, MemoryLedger & ledger) override
  {
    this->GetEvaluation().Plan(
      mapping, Forces::OfEachSample, this->GetNeeds(), [this](TArguments & a) { this->SetArguments(a); }, name, ledger);
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
    return this->GetSettings().bins;
  }
};

/** Mutual information with Parzen windows: Mattes', or the normalised one (Modat 2010, equation 2). */
class MutualInformation : public HistogramSimilarity<kernels::MattesArguments, MattesEvaluation>
{
public:
  MutualInformation(MetricCore &               core,
                    const SimilaritySettings & settings,
                    const SampleDraws &        draws,
                    LevelForces                forces)
    : HistogramSimilarity(core, settings, draws, forces, MakePasses<MattesPasses>(*core.queue))
  {}

protected:
  double
  GetSumUnit() const override
  {
    // The Parzen windows are counted in the histogram's units, and the forces are those of the value with its sign.
    return this->GetEvaluation().GetCountUnit();
  }

  HistogramNeeds
  GetNeeds() const override
  {
    return GetMattesNeeds(this->GetBins());
  }

  void
  SetArguments(kernels::MattesArguments & a) const override
  {
    SetMattesArguments(this->GetCore().samples.GetMoving(), this->GetBins(), a);
    a.normalized = this->GetSettings().kind == SimilarityKind::NormalizedMutualInformation;
  }
};

/** The correlation ratio as 1 - η, which is minimised. */
class CorrelationRatio : public HistogramSimilarity<kernels::CorrelationRatioArguments>
{
public:
  CorrelationRatio(MetricCore &               core,
                   const SimilaritySettings & settings,
                   const SampleDraws &        draws,
                   LevelForces                forces)
    : HistogramSimilarity(core, settings, draws, forces, MakePasses<CorrelationRatioPasses>(*core.queue))
  {}

protected:
  double
  GetSumUnit() const override
  {
    // See kernels/metric/histogram/CorrelationRatio.h: the sums of squares have a unit.
    return GetCorrelationRatioUnit(this->GetEvaluation().GetCountUnit(), false);
  }

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
};

/** A sum over pairs of values. */
class Pairs : public EvaluatedSimilarity<PairEvaluation>
{
public:
  Pairs(MetricCore & core, const SimilaritySettings & settings, const SampleDraws & draws, LevelForces forces)
    : EvaluatedSimilarity(core, settings, draws, forces, GetPairMeasure(settings.kind))
  {
    if (settings.kind == SimilarityKind::Demons && forces != LevelForces::OfITK)
    {
      throw std::logic_error("demons have forces by points alone");
    }
  }

  void
  Prepare(const SampleMapping & mapping) override
  {
    const DemonsTerms terms = this->ComputeDemonsTerms();
    if (this->GetSettings().kind == SimilarityKind::Demons && terms.leastDifference >= 1)
    {
      throw BadInputError("demons take values that differ by less than " + NameNumber(LeastDifference) +
                          " for equal, as ITK's metric does, and no two values of both images differ by more than " +
                          NameNumber(LeastDifference / terms.leastDifference) +
                          ": multiply both images' values by one large number, or choose another similarity");
    }
    this->GetEvaluation().Prepare(mapping, Forces::OfEachSample, terms);
    this->GetEvaluation().PrepareValue(mapping);
  }

  void
  PlanEvaluation(const SampleMapping & mapping, const std::string & name, MemoryLedger & ledger) override
  {
    this->GetEvaluation().Plan(mapping, Forces::OfEachSample, name, ledger);
  }

  void
  EnqueueForces() override
  {
    this->GetEvaluation().EnqueuePasses(Forces::OfEachSample);
    // The passes of a correlation compute it between them.
    if (this->GetSettings().kind != SimilarityKind::Correlation)
    {
      this->GetEvaluation().EnqueueSimilarity();
    }
  }

  void
  EnqueueValue() override
  {
    this->GetEvaluation().EnqueueValue();
  }

private:
  static constexpr double LeastDifference = 1e-3;

  /** Returns the terms that itk::DemonsImageToImageMetricv4 has by default, in scaled values. */
  DemonsTerms
  ComputeDemonsTerms() const
  {
    const double unit = this->GetCore().samples.GetMoving().scale.range;
    DemonsTerms  terms;
    terms.normalizer = this->GetMeanSquaredEdge();
    terms.leastDifference = LeastDifference / unit;
    terms.leastDenominator = 1e-9 / (unit * unit);
    return terms;
  }
};

/** The mean correlation over neighborhoods (Avants 2008). */
class NeighborhoodCorrelation : public EvaluatedSimilarity<NeighborhoodEvaluation>
{
public:
  NeighborhoodCorrelation(MetricCore &               core,
                          const SimilaritySettings & settings,
                          const SampleDraws &        draws,
                          LevelForces                forces,
                          const FlatNeighborhoods &  flat)
    : EvaluatedSimilarity(core, settings, draws, forces)
    , m_Flat(flat)
  {
    m_Terms.radius.fill(static_cast<std::uint64_t>(settings.radius));
    m_Terms.forcesAreOfValue = !this->HasForcesOfITK();
    m_Terms.flat = flat;
  }

  void
  SetCountedPlanes(const std::optional<Range> & planes) override
  {
    this->GetEvaluation().SetCountedPlanes(planes);
  }

  SumOfValues
  DownloadCounted() override
  {
    const NeighborhoodResult found = this->GetEvaluation().DownloadCounted();
    return { found.count, found.correlations };
  }

  void
  Prepare(const SampleMapping & mapping) override
  {
    this->GetEvaluation().CheckIsPossible();
    m_Terms.flat.isOfScaledValues = m_Flat.isOfScaledValues || this->AreBelowEpsilon();
    this->GetEvaluation().Prepare(mapping, m_Terms, Forces::OfEachSample, this->GetSlabBytes());
  }

  void
  PlanEvaluation(const SampleMapping & mapping, const std::string & name, MemoryLedger & ledger) override
  {
    this->GetEvaluation().Plan(mapping, m_Terms, Forces::OfEachSample, this->GetSlabBytes(), name, ledger);
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

private:
  /** Returns true if the values as they are are so small that epsilon would leave no correlation of any neighborhood, or no force: the sum
   *  of n squares about a mean is n times the squared largest value at most. */
  bool
  AreBelowEpsilon() const
  {
    const FixedSamples & fixed = this->GetCore().samples.GetFixed();
    double               voxels = 1;
    for (const int size : fixed.virtualSize)
    {
      voxels *= std::min(2 * this->GetSettings().radius + 1, size);
    }
    // The scale's ranges are powers of two above all magnitudes.
    const double ofFixed = voxels * std::pow(fixed.scale.range, 2);
    const double ofMoving = voxels * std::pow(this->GetCore().samples.GetMoving().scale.range, 2);
    return std::min({ ofFixed, ofMoving, ofFixed * ofMoving }) <= m_Flat.epsilon;
  }

  /** Returns the memory for the voxels of one slab. SyN has fields beside it, of which half a one is to do, and a third of one component
   *  where that is a gigabyte: a slab of 1024 x 1024 voxels then has 85 planes, of which 8 are computed twice. */
  std::size_t
  GetSlabBytes() const
  {
    constexpr std::size_t least = std::size_t{ 64 } << 20;
    constexpr std::size_t much = std::size_t{ 1 } << 30;
    const auto            voxels = static_cast<std::size_t>(this->GetCore().samples.GetCount());
    return this->HasForcesOfITK() ? std::max({ least, std::min(16 * voxels, much), 4 * voxels })
                                  : NeighborhoodCorrelationMetric::DefaultSlabBytes;
  }

  FlatNeighborhoods m_Flat;
  NeighborhoodTerms m_Terms;
};
} // namespace

void
LevelSimilarity::SetImages(
  const LevelImage & fixed, const LevelImage & moving, int dimension, int level, const ParallelFor & parallelFor)
{
  FixedSamples samples;
  MovingImage  image;
  this->DescribeImages(fixed, moving, dimension, samples, image);
  m_All = samples;
  m_Number = level;
  const std::array<double, 3> edges = GetSpacing(fixed.toPoint);
  m_MeanSquaredEdge = std::inner_product(edges.begin(), edges.begin() + dimension, edges.begin(), 0.0) / dimension;
  m_ParallelFor = parallelFor;
  m_Subsample = m_Draws.samples > 0
                  ? RegularSubsample(fixed.image->GetSize(), GetSpacing(fixed.toPoint), m_Draws.samples)
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
LevelSimilarity::SetCountedPlanes(const std::optional<Range> & planes)
{
  if (planes)
  {
    throw std::logic_error("this similarity is evaluated over all planes");
  }
}

LevelSimilarity::SumOfValues
LevelSimilarity::DownloadCounted()
{
  throw std::logic_error("this similarity is evaluated over all planes");
}

void
LevelSimilarity::PlanImages(
  const LevelImage & fixed, const LevelImage & moving, int dimension, const std::string & name, MemoryLedger & ledger)
{
  FixedSamples samples;
  MovingImage  image;
  this->DescribeImages(fixed, moving, dimension, samples, image);
  if (m_Draws.samples > 0)
  {
    const RegularSubsample subsample(fixed.image->GetSize(), GetSpacing(fixed.toPoint), m_Draws.samples);
    samples.virtualSize = subsample.GetSize();
  }
  m_Core.samples.Plan(samples, image, m_Core.readsQuads, name, ledger);
}

void
LevelSimilarity::DescribeImages(
  const LevelImage & fixed, const LevelImage & moving, int dimension, FixedSamples & samples, MovingImage & image)
{
  samples = MakeLevelSamples(fixed);
  if (m_Planes)
  {
    samples.virtualSize[2] = static_cast<int>(m_Planes->count);
    samples.sampled->firstPlane = m_Planes->first;
  }
  image = MakeLevelMoving(moving, dimension, !this->GetDescription().HasNeighborhoods() && !this->HasForcesOfITK());
  DescribeValues(m_Settings, fixed, moving, samples, image);
  samples.sampled->isOfQueue = image.isOfQueue = true;
  if (this->HasForcesOfITK() && this->GetDescription().HasJointHistogram())
  {
    // The forces' last digits decide which bins voxels are in an iteration later: docs/notebook/displacement-fields.md.
    samples.precision = image.precision = Precision::Double;
  }
}

void
LevelSimilarity::Draw(std::uint32_t iteration)
{
  m_SampleToVoxel = m_Subsample.Place({ m_Draws.seed, static_cast<std::uint32_t>(m_Number), iteration, 0 });
  FixedSamples drawn = m_All;
  drawn.virtualSize = m_Subsample.GetSize();
  drawn.sampled->isOneGrid = false;
  drawn.sampled->toImage = m_SampleToVoxel;
  this->SetFixed(drawn);
}

void
LevelSimilarity::TakeAllVoxels()
{
  m_SampleToVoxel = {};
  m_SampleToVoxel.offset[2] = m_Planes ? static_cast<double>(m_Planes->first) : 0;
  this->SetFixed(m_All);
}

void
LevelSimilarity::SetFixed(const FixedSamples & samples)
{
  m_Core.samples.SetFixed(samples, m_ParallelFor);
}

std::unique_ptr<LevelSimilarity>
MakeLevelSimilarity(MetricCore &               core,
                    const SimilaritySettings & settings,
                    const SampleDraws &        draws,
                    LevelForces                forces,
                    const FlatNeighborhoods &  flat)
{
  switch (settings.kind)
  {
    case SimilarityKind::MattesMutualInformation:
    case SimilarityKind::NormalizedMutualInformation:
      return std::make_unique<MutualInformation>(core, settings, draws, forces);
    case SimilarityKind::CorrelationRatio:
      return std::make_unique<CorrelationRatio>(core, settings, draws, forces);
    case SimilarityKind::NeighborhoodCorrelation:
      return std::make_unique<NeighborhoodCorrelation>(core, settings, draws, forces, flat);
    default:
      return std::make_unique<Pairs>(core, settings, draws, forces);
  }
}

} // namespace gpureg
