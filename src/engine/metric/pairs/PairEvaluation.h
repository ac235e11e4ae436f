// SPDX-License-Identifier: Apache-2.0
// An evaluation of a metric that is a sum over pairs of values: the arrays, the passes in their order, and what they bring.
#ifndef gpureg_PairEvaluation_h
#define gpureg_PairEvaluation_h

#include "gpureg/metric/pairs/PairMetric.h"

#include "engine/metric/Batch.h"
#include "engine/metric/MetricCore.h"
#include "engine/metric/pairs/PairPasses.h"
#include "engine/metric/SimilarityPasses.h"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace gpureg
{

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

  /** Finds out what evaluations along a mapping take, and makes room for them: for a method that enqueues them itself. */
  void
  Prepare(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms);

  /** Enqueues what it has been prepared for; the samples are where they have been moved. A correlation's forces of each sample
   *  take two passes: what weighs them is known when all values have been seen. */
  void
  EnqueuePasses(Forces forces);

  /** The same for values alone, besides. */
  void
  PrepareValue(const SampleMapping & mapping);

  /** Enqueues what finds the value alone. */
  void
  EnqueueValue();

  /** Enqueues what makes the similarity of the last passes' sums. */
  void
  EnqueueSimilarity()
  {
    this->EnqueueSimilarity(m_Pass.arguments);
  }

  /** Forces of each sample that the last passes found. */
  const Memory &
  GetForces() const
  {
    return *m_Arrays.forces;
  }

  /** float [kernels::EvaluatedNumbers] */
  const Memory &
  GetEvaluated() const
  {
    return *m_Arrays.evaluated;
  }

private:
  /** Of a pass. */
  struct Pass
  {
    kernels::PairArguments arguments{};
    kernels::SampleMaps    maps{};
  };

  Pass
  MakePass(const SampleMapping & mapping, Forces forces, const DemonsTerms & terms);
  void
  EnqueueSimilarity(const kernels::PairArguments & arguments);
  void
  CheckHas(const SampleMapping & mapping, Forces forces) const;
  /** Of candidates that are dealt with at once. */
  void
  EvaluateTogether(const CandidateMaps & candidates, const ParallelFor & parallelFor, PairResult * results);
  std::size_t
  GetPartialBytes() const;
  struct Sums;
  Sums
  DownloadSums();
  /** Whether they are of a correlation, in floats, that is lost among rounding. */
  bool
  AreLost(const Sums & sums) const;
  /** Has the next passes sum a correlation's values about their means, of what sums have come to. */
  void
  CountFrom(const std::array<double, kernels::MostMoments> & moments);
  /** From the unit of an image's moments to its scaled values. */
  double
  GetUnitOfMoments(const ValueScale & scale) const;
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
