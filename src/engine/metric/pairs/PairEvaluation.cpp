// SPDX-License-Identifier: Apache-2.0
#include "engine/metric/pairs/PairEvaluation.h"

#include "gpureg/core/Error.h"

#include "engine/metric/samples/AddPartials.h"
#include "engine/metric/samples/IntegerValues.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <cmath>

namespace gpureg
{

namespace
{
// With fewer samples, a chunk's sums cost more than its samples.
constexpr int LeastSamplesOfChunk = 1024;
// A float counts up to this number of samples exactly.
constexpr int MostSamplesOfChunk = 1 << 20;
// So many chunks hold the sums of all parts of the samples.
constexpr int JoinedChunks = 2;

/** Returns true if the weights of the forces depend on what a previous pass computes. */
bool
IsCentred(PairMeasure measure, Forces forces)
{
  return measure == PairMeasure::Correlation && forces == Forces::OfEachSample;
}

int
GetTask(PairMeasure measure, Forces forces)
{
  const bool isValue = forces == Forces::None;
  const int  task = measure == PairMeasure::Correlation               ? kernels::PairsCorrelation
                    : measure == PairMeasure::MeanAbsoluteDifferences ? kernels::PairsMeanAbsoluteDifferences
                    : measure == PairMeasure::Demons && !isValue      ? kernels::PairsDemons
                                                                      : kernels::PairsMeanSquares;
  return isValue ? task : task | kernels::PairsComputeForces | (IsCentred(measure, forces) ? kernels::PairsCentred : 0);
}

using ForceSums = std::array<double, kernels::ForceSumCount>;
using PairSumArray = std::array<double, kernels::MostPairSums>;

/** Returns true if rounding to floats destroys a correlation because the values lie much farther from 0 than they vary, as in a mask of
 *  almost nothing but background. Floats resolve Σ fm to about 1.5e-7 of the sum of its terms, and Σ f₁m₁ is the rest of it. */
bool
LosesToRounding(const PairSumArray & sums)
{
  constexpr double most = 16; // 16 · 2 · 1.5e-7: 5e-6 of the value
  const double     count = sums[kernels::CountSum];
  const auto       loses = [&](int first, int second, int product) {
    const double ofMeans = sums[first] * sums[second] / count;
    return std::abs(ofMeans) > most * std::abs(sums[product] - ofMeans);
  };
  return count > 0 && (loses(kernels::FixedSum, kernels::FixedSum, kernels::FixedSquareSum) ||
                       loses(kernels::MovingSum, kernels::MovingSum, kernels::MovingSquareSum) ||
                       loses(kernels::FixedSum, kernels::MovingSum, kernels::ProductSum));
}

/** The requirements of a pass. */
constexpr SampleNeeds Needs{ LeastSamplesOfChunk, MostSamplesOfChunk, 1.0 };
} // namespace

/** The sums of all chunks. */
struct PairEvaluation::Sums
{
  PairSumArray                                    ofPairs{};
  std::array<ForceSums, kernels::MostPairWeights> forces{};

  /** Returns a correlation's sums of forces; see kernels/metric/ValuePairs.h. */
  ForceSums
  CombineForces(double fixedMean, double movingMean, double slope) const
  {
    ForceSums combined{};
    for (std::size_t s = 0; s < combined.size(); ++s)
    {
      combined[s] = forces[1][s] - fixedMean * forces[0][s] - slope * (forces[2][s] - movingMean * forces[0][s]);
    }
    return combined;
  }
};

PairMeasure
GetPairMeasure(SimilarityKind kind)
{
  return kind == SimilarityKind::Correlation               ? PairMeasure::Correlation
         : kind == SimilarityKind::MeanAbsoluteDifferences ? PairMeasure::MeanAbsoluteDifferences
         : kind == SimilarityKind::Demons                  ? PairMeasure::Demons
                                                           : PairMeasure::MeanSquares;
}

PairEvaluation::PairEvaluation(MetricCore & core, PairMeasure measure)
  : m_Core(core)
  , m_Measure(measure)
  , m_Passes(MakePasses<PairPasses>(*core.queue))
  , m_SimilarityPasses(MakePasses<SimilarityPasses>(*core.queue))
{
  m_Arrays.samples = &core.samples.GetArrays();
  core.readsQuads = m_Passes->GetGrain().readsQuads;
  core.readsFixedValues = true;
  core.ownArrays = { &m_Arrays.partials, &m_Arrays.evaluated, &m_Batch.maps };
}

PairResult
PairEvaluation::Evaluate(const SampleMapping & mapping,
                         Forces                forces,
                         const DemonsTerms &   terms,
                         const ParallelFor &   parallelFor)
{
  CheckHas(mapping, forces);
  return m_Core.Evaluate(
    parallelFor,
    [&] { Prepare(mapping, forces, terms); },
    [&] { EnqueuePasses(forces); },
    [&] {
      Sums sums = DownloadSums(m_Pass.arguments);
      if (AreLost(sums))
      {
        CountFrom(sums.ofPairs);
        // Forces may have overwritten the displacements.
        m_Core.samples.Move();
        EnqueuePasses(forces);
        sums = DownloadSums(m_Pass.arguments);
      }
      if (forces == Forces::OfEachSample)
      {
        m_Core.StoreForces(GetForces());
      }
      return MakeResult(sums);
    });
}

bool
PairEvaluation::AreLost(const Sums & sums) const
{
  return m_Measure == PairMeasure::Correlation && !m_Core.samples.IsFixedPoint() && LosesToRounding(sums.ofPairs);
}

void
PairEvaluation::CountFrom(const std::array<double, kernels::MostPairSums> & pairSums)
{
  const double count = pairSums[kernels::CountSum];
  for (kernels::PairArguments * const arguments : { &m_Pass.arguments, &m_ValuePass.arguments })
  {
    arguments->fixedCentre = static_cast<float>(pairSums[kernels::FixedSum] / count);
    arguments->movingCentre = static_cast<float>(pairSums[kernels::MovingSum] / count);
  }
}

std::vector<PairResult>
PairEvaluation::EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
{
  CheckHas({}, Forces::None);
  if (!m_Passes->HasBatches())
  {
    return EvaluateEach(candidates, [&](const SampleMapping & mapping) {
      return Evaluate(mapping, Forces::None, {}, parallelFor);
    });
  }
  // The sums of so many candidates need little memory.
  constexpr std::int64_t MostAtOnce = 16384;
  return EvaluateInBatches<PairResult>(candidates, MostAtOnce, [&](const CandidateMaps & some, PairResult * results) {
    EvaluateTogether(some, parallelFor, results);
  });
}

void
PairEvaluation::CheckHas(const SampleMapping & mapping, Forces forces) const
{
  if (IsCentred(m_Measure, forces) && !mapping.spline && !mapping.preTransforms)
  {
    throw UnsupportedError(
      "a correlation has no forces of each sample by a displacement field; use a spline, or a transform of "
      "global support");
  }
  if (m_Measure == PairMeasure::Demons && forces == Forces::Summed)
  {
    throw UnsupportedError("the demons' forces have no sum; use a displacement field");
  }
  if (m_Measure != PairMeasure::Correlation && !m_Core.samples.HaveOneUnit())
  {
    throw BadInputError("the fixed and the moving values are not in one unit: set both with the same scale");
  }
}

void
PairEvaluation::Plan(const SampleMapping & mapping, Forces forces, const std::string & name, MemoryLedger & ledger)
{
  m_Pass = this->DescribePass(mapping, forces, {});
  m_Core.samples.PlanMapping(mapping, forces, name, ledger);
  ledger.Reserve(name + "sums", this->GetReservedBytes());
  ledger.Reserve(name + "value", sizeof(float) * kernels::EvaluatedNumbers);
}

PairEvaluation::Pass
PairEvaluation::MakePass(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms)
{
  Pass pass = this->DescribePass(mapping, forces, terms);
  m_Passes->Prepare(pass.arguments.samples.variant, pass.arguments.task);
  return pass;
}

PairEvaluation::Pass
PairEvaluation::DescribePass(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms) const
{
  const SampleProblem problem = m_Core.samples.MakeProblem(mapping, forces, m_Passes->GetGrain(), Needs);
  Pass                pass;
  pass.maps = problem.maps;
  pass.arguments.samples = problem.arguments;
  pass.arguments.task = GetTask(m_Measure, forces);
  pass.arguments.inverseNormalizer = static_cast<float>(1.0 / terms.normalizer);
  pass.arguments.leastDifference = static_cast<float>(terms.leastDifference);
  pass.arguments.leastDenominator = static_cast<float>(terms.leastDenominator);
  return pass;
}

void
PairEvaluation::Prepare(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms)
{
  m_Pass = MakePass(mapping, forces, terms);
  if (IsCentred(m_Measure, forces))
  {
    PrepareValue(mapping);
  }
  m_Core.samples.UploadMapping(mapping, forces);
  Reserve(*m_Core.queue, m_Arrays.partials, this->GetReservedBytes());
  Reserve(*m_Core.queue, m_Arrays.evaluated, sizeof(float) * kernels::EvaluatedNumbers);
  if (forces == Forces::OfEachSample)
  {
    m_Core.samples.GetForces().Reserve();
  }
}

void
PairEvaluation::PrepareValue(const SampleMapping & mapping)
{
  m_ValuePass = MakePass(mapping, Forces::None, {});
}

void
PairEvaluation::EnqueuePasses(Forces forces)
{
  if (IsCentred(m_Measure, forces))
  {
    EnqueueValue();
  }
  m_Core.samples.GetForces().Write(forces, m_Arrays.forces, [this] {
    m_Passes->SumPairs(m_Pass.arguments, m_Pass.maps, m_Arrays);
  });
}

void
PairEvaluation::EnqueueValue()
{
  m_Core.samples.CheckAreMoved();
  m_Passes->SumPairs(m_ValuePass.arguments, m_ValuePass.maps, m_Arrays);
  EnqueueSimilarity(m_ValuePass.arguments);
}

void
PairEvaluation::EnqueueSimilarity(const kernels::PairArguments & arguments)
{
  const double            fixedUnit = GetUnitOfSums(m_Core.samples.GetFixed().scale);
  const double            movingUnit = GetUnitOfSums(m_Core.samples.GetMoving().scale);
  const bool              isSquare = m_Measure == PairMeasure::MeanSquares || m_Measure == PairMeasure::Demons;
  kernels::SimilaritySums a{};
  a.isCorrelation = m_Measure == PairMeasure::Correlation;
  a.chunks = kernels::ChunkCount(&arguments.samples);
  a.stride = kernels::PairPartialCount(arguments.samples.variant, arguments.task);
  a.count = kernels::PairSumCount(arguments.task);
  a.haveRests = kernels::FloatsOfSum(arguments.samples.variant) > 1;
  a.fixedUnit = static_cast<float>(fixedUnit);
  a.movingUnit = static_cast<float>(isSquare ? movingUnit * movingUnit : movingUnit);
  if (m_Core.parts != nullptr)
  {
    a.chunks = this->JoinSums(*m_Core.parts, a, arguments);
  }
  m_SimilarityPasses->Find(a, *m_Arrays.partials, *m_Arrays.evaluated);
}

int
PairEvaluation::JoinSums(SampleParts &                   parts,
                         const kernels::SimilaritySums & a,
                         const kernels::PairArguments &  arguments)
{
  Queue &                   queue = *m_Core.queue;
  const PairSumArray        its = this->DownloadSums(arguments).ofPairs;
  const std::vector<double> sums = parts.Sum({ its.begin(), its.begin() + a.count });
  // A chunk with the sums as floats, and one with what rounding has left of them.
  const auto         stride = static_cast<std::size_t>(a.stride);
  std::vector<float> partials(JoinedChunks * stride);
  for (std::size_t s = 0; s < sums.size(); ++s)
  {
    partials[s] = static_cast<float>(sums[s]);
    partials[stride + s] = static_cast<float>(sums[s] - static_cast<double>(partials[s]));
  }
  queue.Upload(*m_Arrays.partials, 0, partials.data(), sizeof(float) * partials.size());
  queue.Finish();
  return JoinedChunks;
}

PairEvaluation::Sums
PairEvaluation::AddChunksUp(const kernels::PairArguments & a, const float * partials)
{
  const int  variant = a.samples.variant;
  const int  pairSums = kernels::PairSumCount(a.task);
  const auto floats = static_cast<std::size_t>(kernels::FloatsOfSum(variant));
  Sums       sums;
  for (int chunk = 0; chunk < kernels::ChunkCount(&a.samples); ++chunk)
  {
    partials = AddPartials(partials, pairSums, floats, sums.ofPairs.data());
    for (int k = 0; k < kernels::PairForceSums(variant, a.task); ++k)
    {
      partials = AddPartials(partials, kernels::ForceSumCount, floats, sums.forces[k].data());
    }
  }
  return sums;
}

void
PairEvaluation::EvaluateTogether(const CandidateMaps & candidates,
                                 const ParallelFor &   parallelFor,
                                 PairResult *          results)
{
  const int         count = CountCandidates(candidates);
  const auto        subBatch = GetSubBatchSize(m_Core, count);
  std::size_t       bytes = 0;
  std::vector<char> areLost(static_cast<std::size_t>(count)); // not bool, because several threads write
  const auto        upload = [&](const BatchRange & range) {
    UploadMaps(m_Core, candidates, range, m_Pass.arguments.samples, Needs.scaledRange, m_Batch);
  };
  m_Core.Evaluate(
    parallelFor,
    [&] {
      const SampleGrain grain = MakeBatchGrain(m_Passes->GetGrain(), static_cast<std::size_t>(count));
      m_Pass.arguments = {};
      m_Pass.arguments.samples = PrepareBatch(m_Core, candidates, grain, Needs, m_Batch).arguments;
      m_Pass.arguments.task = GetTask(m_Measure, Forces::None);
      bytes = static_cast<std::size_t>(count) * GetPartialBytes();
      Reserve(*m_Core.queue, m_Arrays.partials, bytes);
      upload({ 0, static_cast<int>(subBatch) });
    },
    [&] {
      EnqueueSubBatches(*m_Core.queue, count, subBatch, upload, [this](const BatchRange & range) {
        m_Passes->SumBatch(m_Pass.arguments, range, m_Arrays, m_Batch);
      });
    },
    [&] {
      Queue &      queue = *m_Core.queue;
      char * const staging = static_cast<char *>(queue.GetStaging(Direction::Down, 0, bytes));
      queue.Download(staging, *m_Arrays.partials, bytes);
      ForEachCandidate(parallelFor, count, [&](std::int64_t n) {
        const char * const ofCandidate = staging + static_cast<std::size_t>(n) * GetPartialBytes();
        const Sums         sums = AddChunksUp(m_Pass.arguments, reinterpret_cast<const float *>(ofCandidate));
        results[n] = MakeResult(sums);
        areLost[static_cast<std::size_t>(n)] = AreLost(sums);
      });
      return 0;
    });
  for (std::int64_t n = 0; n < count; ++n)
  {
    if (areLost[static_cast<std::size_t>(n)] != 0)
    {
      results[n] = Evaluate(MakeMapping(candidates, n), Forces::None, {}, parallelFor);
    }
  }
}

std::size_t
PairEvaluation::GetPartialBytes() const
{
  return CountPartialBytes(m_Pass.arguments);
}

std::size_t
PairEvaluation::GetReservedBytes() const
{
  const kernels::SampleArguments & samples = m_Pass.arguments.samples;
  const auto chunk = static_cast<std::size_t>(kernels::PairPartialCount(samples.variant, m_Pass.arguments.task));
  return std::max(this->GetPartialBytes(), JoinedChunks * sizeof(float) * chunk);
}

std::size_t
PairEvaluation::CountPartialBytes(const kernels::PairArguments & arguments)
{
  return sizeof(float) * static_cast<std::size_t>(kernels::ChunkCount(&arguments.samples)) *
         static_cast<std::size_t>(kernels::PairPartialCount(arguments.samples.variant, arguments.task));
}

PairEvaluation::Sums
PairEvaluation::DownloadSums(const kernels::PairArguments & arguments)
{
  Queue &           queue = *m_Core.queue;
  const std::size_t bytes = CountPartialBytes(arguments);
  void * const      staging = queue.GetStaging(Direction::Down, 0, bytes);
  queue.Download(staging, *m_Arrays.partials, bytes);
  return AddChunksUp(arguments, static_cast<const float *>(staging));
}

double
PairEvaluation::GetUnitOfSums(const ValueScale & scale) const
{
  return m_Core.samples.IsFixedPoint()
           ? std::ldexp(1.0, GPUREG_BITS_OF_MOMENTS - ComputeValueExponent(scale)) / scale.range
           : 1.0;
}

PairResult
PairEvaluation::MakeResult(const Sums & sums) const
{
  const double fixedUnit = GetUnitOfSums(m_Core.samples.GetFixed().scale);
  const double movingUnit = GetUnitOfSums(m_Core.samples.GetMoving().scale);
  PairResult   result;
  ForceSums    forces = sums.forces[0];
  result.count = sums.ofPairs[kernels::CountSum];
  if (m_Measure == PairMeasure::Correlation)
  {
    const double count = std::max(1.0, result.count);
    const double fixedMean = sums.ofPairs[kernels::FixedSum] / count;
    const double movingMean = sums.ofPairs[kernels::MovingSum] / count;
    result.fixedSquares = sums.ofPairs[kernels::FixedSquareSum] - count * fixedMean * fixedMean;
    result.movingSquares = sums.ofPairs[kernels::MovingSquareSum] - count * movingMean * movingMean;
    result.products = sums.ofPairs[kernels::ProductSum] - count * fixedMean * movingMean;
    const double fixedCentre = m_Pass.arguments.fixedCentre;
    const double movingCentre = m_Pass.arguments.movingCentre;
    const double least = m_Core.samples.IsFixedPoint() ? GPUREG_LEAST_OF_FIXED_POINT_SQUARES : GPUREG_LEAST_OF_SQUARES;
    const auto   dropRounding = [&](double & squares, double sum, double centre) {
      squares = squares <= least * sum + GPUREG_LEAST_OF_FIXED_POINT_SQUARES * count * centre * centre ? 0.0 : squares;
    };
    dropRounding(result.fixedSquares, sums.ofPairs[kernels::FixedSquareSum], fixedCentre);
    dropRounding(result.movingSquares, sums.ofPairs[kernels::MovingSquareSum], movingCentre);
    result.fixedSquares *= fixedUnit * fixedUnit;
    result.movingSquares *= movingUnit * movingUnit;
    result.products *= fixedUnit * movingUnit;
    const double slope = result.movingSquares > 0 ? result.products / result.movingSquares : 0.0;
    forces = sums.CombineForces(fixedMean * fixedUnit, movingMean * movingUnit, slope);
    result.fixedMean = (fixedCentre + fixedMean) * fixedUnit;
    result.movingMean = (movingCentre + movingMean) * movingUnit;
  }
  else
  {
    const bool isSquare = m_Measure != PairMeasure::MeanAbsoluteDifferences;
    result.differences = sums.ofPairs[kernels::DifferenceSum] * movingUnit * (isSquare ? movingUnit : 1.0);
  }
  static_cast<ForceResult &>(result) = m_Core.samples.MakeForceResult(m_Pass.arguments.samples, forces);
  return result;
}

} // namespace gpureg
