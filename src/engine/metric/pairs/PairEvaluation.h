// SPDX-License-Identifier: Apache-2.0
// An evaluation of a metric that is a sum over pairs of values: its arrays, the order of its passes, and its results.
#ifndef gpureg_PairEvaluation_h
#define gpureg_PairEvaluation_h

#include "gpureg/metric/Similarity.h"
#include "gpureg/metric/pairs/PairMetric.h"

#include "engine/metric/Batch.h"
#include "engine/metric/MetricCore.h"
#include "engine/metric/pairs/PairPasses.h"
#include "engine/metric/SimilarityPasses.h"
#include "engine/runtime/MemoryLedger.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpureg
{

/** Returns the measure of a similarity that is a sum over pairs of values. */
PairMeasure
GetPairMeasure(SimilarityKind kind);

class PairEvaluation
{
public:
  PairEvaluation(MetricCore & core, PairMeasure measure);

  const Backend &
  GetBackend() const
  {
    return m_Core.GetBackend();
  }

  PairResult
  Evaluate(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms, const ParallelFor & parallelFor);

  std::vector<PairResult>
  EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor);

  /** Makes the arguments of evaluations along a mapping, and reserves their memory. For a method that enqueues evaluations itself. */
  void
  Prepare(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms);

  /** Writes down the arrays that Prepare() reserves, for samples that SampleSet::Plan() has described.
   *  \param name what their names begin with */
  void
  Plan(const SampleMapping & mapping, Forces forces, const std::string & name, MemoryLedger & ledger);

  /** Enqueues the passes that Prepare() prepared; the samples must have been moved. The forces of each sample of a correlation need two
   *  passes, because their weights depend on the values of all samples. */
  void
  EnqueuePasses(Forces forces);

  /** Makes the arguments of evaluations of the value alone, and reserves their memory, in addition to what Prepare() prepares. */
  void
  PrepareValue(const SampleMapping & mapping);

  /** Enqueues the pass that computes the value alone. */
  void
  EnqueueValue();

  /** Enqueues the computation of the similarity from the sums of the last passes. */
  void
  EnqueueSimilarity()
  {
    this->EnqueueSimilarity(m_Pass.arguments);
  }

  /** Returns the forces of each sample that the last passes computed. */
  Memory &
  GetForces() const
  {
    return m_Core.samples.GetForces().Get();
  }

  /** Returns the evaluated numbers: float[kernels::EvaluatedNumbers]. */
  const Memory &
  GetEvaluated() const
  {
    return *m_Arrays.evaluated;
  }

private:
  /** The arguments of a pass. */
  struct Pass
  {
    kernels::PairArguments arguments{};
    kernels::SampleMaps    maps{};
  };

  Pass
  MakePass(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms);
  /** Makes a pass whose kernels need not be there. */
  Pass
  DescribePass(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms) const;
  void
  EnqueueSimilarity(const kernels::PairArguments & arguments);
  /** Waits for the device, and writes the sums of all parts over those of the first chunks. Returns how many chunks have them. */
  int
  JoinSums(SampleParts & parts, const kernels::SimilaritySums & a, const kernels::PairArguments & arguments);
  void
  CheckHas(const SampleMapping & mapping, Forces forces) const;
  /** Evaluates candidates at once, and writes their results. */
  void
  EvaluateTogether(const CandidateMaps & candidates, const ParallelFor & parallelFor, PairResult * results);
  std::size_t
  GetPartialBytes() const;
  /** Returns the bytes of these, with room for what JoinSums() writes. */
  std::size_t
  GetReservedBytes() const;
  /** Returns the bytes of the partials of a pass. */
  static std::size_t
  CountPartialBytes(const kernels::PairArguments & arguments);
  struct Sums;
  /** Waits for the device, and returns the sums of a pass. */
  Sums
  DownloadSums(const kernels::PairArguments & arguments);
  /** Returns true if the sums are those of a correlation, in floats, and are lost to rounding. */
  bool
  AreLost(const Sums & sums) const;
  /** Makes the next passes sum a correlation's values about the means that follow from the given sums. */
  void
  CountFrom(const std::array<double, kernels::MostPairSums> & pairSums);
  /** Returns the factor from the unit of an image's sums to its scaled values. */
  double
  GetUnitOfSums(const ValueScale & scale) const;
  PairResult
  MakeResult(const Sums & sums) const;
  static Sums
  AddChunksUp(const kernels::PairArguments & a, const float * partials);

  MetricCore &                      m_Core;
  PairMeasure                       m_Measure;
  std::unique_ptr<PairPasses>       m_Passes;
  std::unique_ptr<SimilarityPasses> m_SimilarityPasses;
  PairArrays                        m_Arrays;
  BatchArrays                       m_Batch;
  Pass                              m_Pass;
  Pass                              m_ValuePass;
};

} // namespace gpureg

#endif
