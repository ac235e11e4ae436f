// SPDX-License-Identifier: Apache-2.0
#include "gpureg/PairMetric.h"

#include "gpureg/Error.h"

#include "Batch.h"
#include "IntegerValues.h"
#include "MetricCore.h"
#include "PairPasses.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
// With fewer, a chunk's sums cost more than its samples.
constexpr int LeastSamplesOfChunk = 1024;
// So many can be counted in a float.
constexpr int MostSamplesOfChunk = 1 << 20;

int
GetTask(PairMeasure measure, Forces forces)
{
  const bool isValue = forces == Forces::None;
  const int  task = measure == PairMeasure::Correlation               ? kernels::PairsCorrelation
                    : measure == PairMeasure::MeanAbsoluteDifferences ? kernels::PairsMeanAbsoluteDifferences
                    : measure == PairMeasure::Demons && !isValue      ? kernels::PairsDemons
                                                                      : kernels::PairsMeanSquares;
  const bool isCentred = measure == PairMeasure::Correlation && forces == Forces::OfEachSample;
  return isValue ? task : task | kernels::PairsFindForces | (isCentred ? kernels::PairsCentred : 0);
}

using ForceSums = std::array<double, kernels::ForceSumCount>;

/** All chunks' sums. */
struct SumsOfPairs
{
  std::array<double, kernels::MostMoments>        moments{};
  std::array<ForceSums, kernels::MostPairWeights> forces{};
};

SumsOfPairs
AddChunksUp(const kernels::PairArguments & a, const float * partials)
{
  const int   variant = a.samples.variant;
  const int   moments = kernels::MomentCount(a.task);
  SumsOfPairs sums;
  for (int chunk = 0; chunk < kernels::ChunkCount(&a.samples); ++chunk)
  {
    for (int part = 0; part < kernels::FloatsOfSum(variant) * moments; ++part)
    {
      sums.moments[part % moments] += *partials++;
    }
    for (int k = 0; k < kernels::PairForceSums(variant, a.task); ++k)
    {
      for (int part = 0; part < kernels::PartialCount(variant); ++part)
      {
        sums.forces[k][part % kernels::ForceSumCount] += *partials++;
      }
    }
  }
  return sums;
}

/** A correlation's forces: see kernels/ValuePairs.h. */
ForceSums
CombineForces(const SumsOfPairs & sums, double fixedMean, double movingMean, double slope)
{
  ForceSums combined{};
  for (std::size_t s = 0; s < combined.size(); ++s)
  {
    combined[s] =
      sums.forces[1][s] - fixedMean * sums.forces[0][s] - slope * (sums.forces[2][s] - movingMean * sums.forces[0][s]);
  }
  return combined;
}

/** Calls work(n) for all n below count, some at a time on each thread. */
template <typename TWork>
void
ForEachOf(const ParallelFor & parallelFor, std::int64_t count, const TWork & work)
{
  constexpr std::int64_t perTask = 256;
  parallelFor((count + perTask - 1) / perTask, [&](std::int64_t task) {
    for (std::int64_t n = task * perTask; n < std::min(count, (task + 1) * perTask); ++n)
    {
      work(n);
    }
  });
}
} // namespace

class PairMetric::Implementation
{
public:
  Implementation(MetricCore & core, PairMeasure measure)
    : m_Core(core)
    , m_Measure(measure)
    , m_Passes(core.queue->CreatePairPasses())
  {
    m_Arrays.samples = &core.samples.GetArrays();
    core.readsQuads = m_Passes->GetGrain().readsQuads;
    core.readsFixedValues = true;
    core.ownArrays = { &m_Arrays.partials, &m_Arrays.forces, &m_Batch.maps };
  }

  const Backend &
  GetBackend() const
  {
    return m_Core.GetBackend();
  }

  PairResult
  Evaluate(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms, const ParallelFor & parallelFor)
  {
    this->CheckHas(mapping, forces);
    if (m_Measure != PairMeasure::Correlation || forces != Forces::OfEachSample)
    {
      return this->EvaluateOnce(mapping, forces, terms, {}, parallelFor);
    }
    // What weighs a correlation's forces is known when all values have been seen.
    const Centring   centring = FindCentring(this->EvaluateOnce(mapping, Forces::None, terms, {}, parallelFor));
    const auto       statistics = m_Core.queue->statistics;
    const PairResult result = this->EvaluateOnce(mapping, forces, terms, centring, parallelFor);
    m_Core.queue->statistics.kernelMilliseconds += statistics.kernelMilliseconds;
    m_Core.queue->statistics.evaluateMilliseconds += statistics.evaluateMilliseconds;
    return result;
  }

  std::vector<PairResult>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
  {
    this->CheckHas({}, Forces::None);
    std::vector<PairResult> results(static_cast<std::size_t>(candidates.count));
    if (!m_Passes->HasBatches())
    {
      for (std::int64_t n = 0; n < candidates.count; ++n)
      {
        results[static_cast<std::size_t>(n)] =
          this->Evaluate(MakeMapping(candidates, n), Forces::None, {}, parallelFor);
      }
      return results;
    }
    // So many that their sums take little memory.
    constexpr std::int64_t MostAtOnce = 16384;
    for (std::int64_t first = 0; first < candidates.count; first += MostAtOnce)
    {
      const CandidateMaps some{ std::min(MostAtOnce, candidates.count - first),
                                [&candidates, first](std::int64_t begin, std::int64_t number, IndexMap * maps) {
                                  candidates.make(first + begin, number, maps);
                                } };
      this->EvaluateTogether(some, parallelFor, &results[static_cast<std::size_t>(first)]);
    }
    return results;
  }

private:
  /** Of a correlation's forces of each sample. */
  struct Centring
  {
    double fixedMean = 0;
    double movingMean = 0;
    double slope = 0;
  };

  static Centring
  FindCentring(const PairResult & result)
  {
    return { result.fixedMean,
             result.movingMean,
             result.movingSquares > 0 ? result.products / result.movingSquares : 0.0 };
  }

  PairResult
  EvaluateOnce(const SampleMapping & mapping,
               Forces                forces,
               const DemonsTerms &   terms,
               const Centring &      centring,
               const ParallelFor &   parallelFor)
  {
    return m_Core.Evaluate(
      parallelFor,
      [&] { this->Prepare(mapping, forces, terms, centring); },
      [&] { m_Passes->SumPairs(m_Arguments, m_Maps, m_Arrays); },
      [&] { return this->BringResult(forces); });
  }

  void
  CheckHas(const SampleMapping & mapping, Forces forces) const
  {
    if (m_Measure == PairMeasure::Correlation && forces == Forces::OfEachSample && !mapping.spline)
    {
      throw UnsupportedError(
        "a correlation has no forces of each sample but along a spline; use that, or a transform of "
        "global support");
    }
    if (m_Measure == PairMeasure::Demons && forces == Forces::Summed)
    {
      throw UnsupportedError("the demons' forces have no sum; use a displacement field");
    }
    if (m_Measure != PairMeasure::Correlation && !m_Core.samples.AreCountedAlike())
    {
      throw BadInputError("the fixed and the moving values are not in one unit: set both with the same scale");
    }
  }

  void
  Prepare(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms, const Centring & centring)
  {
    const SampleProblem problem = m_Core.samples.MakeProblem(mapping, forces, m_Passes->GetGrain(), GetNeeds());
    m_Maps = problem.maps;
    m_Arguments.samples = problem.arguments;
    m_Arguments.task = GetTask(m_Measure, forces);
    m_Arguments.inverseNormalizer = static_cast<float>(1.0 / terms.normalizer);
    m_Arguments.leastDifference = static_cast<float>(terms.leastDifference);
    m_Arguments.leastDenominator = static_cast<float>(terms.leastDenominator);
    m_Arguments.fixedMean = static_cast<float>(centring.fixedMean);
    m_Arguments.movingMean = static_cast<float>(centring.movingMean);
    m_Arguments.slope = static_cast<float>(centring.slope);
    m_Passes->Prepare(problem.arguments.variant, m_Arguments.task);
    m_Core.samples.SendMapping(mapping, forces);
    Reserve(*m_Core.queue, m_Arrays.partials, this->GetPartialBytes());
    if (forces == Forces::OfEachSample)
    {
      ReserveExactly(*m_Core.queue,
                     m_Arrays.forces,
                     3 * sizeof(float) * static_cast<std::size_t>(m_Core.samples.GetCount()));
    }
  }

  /** Of candidates that are dealt with at once. */
  void
  EvaluateTogether(const CandidateMaps & candidates, const ParallelFor & parallelFor, PairResult * results)
  {
    const int   count = CountCandidates(candidates);
    const auto  portion = GetPortion(m_Core, count);
    std::size_t bytes = 0;
    const auto  send = [&](const BatchRange & range) {
      SendMaps(m_Core, candidates, range, m_Arguments.samples, GetNeeds().scaledRange, m_Batch);
    };
    m_Core.Evaluate(
      parallelFor,
      [&] {
        const SampleGrain grain = MakeBatchGrain(m_Passes->GetGrain(), static_cast<std::size_t>(count));
        m_Arguments = {};
        m_Arguments.samples = PrepareBatch(m_Core, candidates, grain, GetNeeds(), m_Batch).arguments;
        m_Arguments.task = GetTask(m_Measure, Forces::None);
        bytes = static_cast<std::size_t>(count) * this->GetPartialBytes();
        Reserve(*m_Core.queue, m_Arrays.partials, bytes);
        send({ 0, static_cast<int>(portion) });
      },
      [&] {
        EnqueuePortions(*m_Core.queue, count, portion, send, [this](const BatchRange & range) {
          m_Passes->SumBatch(m_Arguments, range, m_Arrays, m_Batch);
        });
      },
      [&] {
        Queue &      queue = *m_Core.queue;
        char * const staging = static_cast<char *>(queue.GetStaging(Direction::Down, 0, bytes));
        queue.Download(staging, *m_Arrays.partials, bytes);
        ForEachOf(parallelFor, count, [&](std::int64_t n) {
          const char * const ofCandidate = staging + static_cast<std::size_t>(n) * this->GetPartialBytes();
          results[n] = this->MakeResult(AddChunksUp(m_Arguments, reinterpret_cast<const float *>(ofCandidate)));
        });
        queue.GiveStagingBack();
        return 0;
      });
  }

  static SampleNeeds
  GetNeeds()
  {
    return { LeastSamplesOfChunk, MostSamplesOfChunk, 1.0 };
  }

  std::size_t
  GetPartialBytes() const
  {
    return sizeof(float) * static_cast<std::size_t>(kernels::ChunkCount(&m_Arguments.samples)) *
           static_cast<std::size_t>(kernels::PairPartialCount(m_Arguments.samples.variant, m_Arguments.task));
  }

  PairResult
  BringResult(Forces forces)
  {
    Queue &      queue = *m_Core.queue;
    void * const staging = queue.GetStaging(Direction::Down, 0, this->GetPartialBytes());
    queue.Download(staging, *m_Arrays.partials, this->GetPartialBytes());
    const SumsOfPairs sums = AddChunksUp(m_Arguments, static_cast<const float *>(staging));
    PairResult        result = this->MakeResult(sums);
    queue.GiveStagingBack();
    m_Core.forces = forces == Forces::OfEachSample ? m_Arrays.forces.get() : nullptr;
    return result;
  }

  /** From the unit of an image's moments to its scaled values. */
  double
  GetUnitOfMoments(const ValueScale & scale) const
  {
    return m_Core.samples.IsPrecise() ? std::ldexp(1.0, GPUREG_BITS_OF_MOMENTS - FindValueExponent(scale)) / scale.range
                                      : 1.0;
  }

  PairResult
  MakeResult(const SumsOfPairs & sums) const
  {
    const double fixedUnit = this->GetUnitOfMoments(m_Core.samples.GetFixed().scale);
    const double movingUnit = this->GetUnitOfMoments(m_Core.samples.GetMoving().scale);
    PairResult   result;
    ForceSums    forces = sums.forces[0];
    result.count = sums.moments[kernels::MomentOfCount];
    if (m_Measure == PairMeasure::Correlation)
    {
      const double count = std::max(1.0, result.count);
      const double fixedMean = sums.moments[kernels::MomentOfFixed] / count;
      const double movingMean = sums.moments[kernels::MomentOfMoving] / count;
      result.fixedSquares = sums.moments[kernels::MomentOfFixedSquares] - count * fixedMean * fixedMean;
      result.movingSquares = sums.moments[kernels::MomentOfMovingSquares] - count * movingMean * movingMean;
      result.products = sums.moments[kernels::MomentOfProducts] - count * fixedMean * movingMean;
      result.fixedSquares *= fixedUnit * fixedUnit;
      result.movingSquares *= movingUnit * movingUnit;
      result.products *= fixedUnit * movingUnit;
      const double slope = result.movingSquares > 0 ? result.products / result.movingSquares : 0.0;
      result.fixedMean = fixedMean * fixedUnit;
      result.movingMean = movingMean * movingUnit;
      forces = CombineForces(sums, result.fixedMean, result.movingMean, slope);
    }
    else
    {
      const bool isSquare = m_Measure != PairMeasure::MeanAbsoluteDifferences;
      result.differences = sums.moments[kernels::MomentOfDifferences] * movingUnit * (isSquare ? movingUnit : 1.0);
    }
    static_cast<ForceResult &>(result) = m_Core.samples.MakeForceResult(m_Arguments.samples, forces);
    return result;
  }

  MetricCore &                m_Core;
  PairMeasure                 m_Measure;
  std::unique_ptr<PairPasses> m_Passes;
  PairArrays                  m_Arrays;
  BatchArrays                 m_Batch;
  kernels::PairArguments      m_Arguments{};
  kernels::SampleMaps         m_Maps{};
};

PairMetric::PairMetric(const std::string & deviceName, PairMeasure measure)
  : Metric(deviceName)
  , m_Implementation(std::make_unique<Implementation>(GetCore(), measure))
{}

PairMetric::~PairMetric()
{
  FreeUnlessForked(m_Implementation);
}

std::vector<PairResult>
PairMetric::EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
{
  return m_Implementation->EvaluateBatch(candidates, parallelFor);
}

PairResult
PairMetric::Evaluate(const SampleMapping & mapping, Forces forces, const ParallelFor & parallelFor)
{
  return m_Implementation->Evaluate(mapping, forces, m_DemonsTerms, parallelFor);
}

} // namespace gpureg
