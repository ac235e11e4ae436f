// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/pairs/PairMetric.h"

#include "engine/metric/pairs/PairEvaluation.h"

namespace gpureg
{

class PairMetric::Implementation : public PairEvaluation
{
public:
  using PairEvaluation::PairEvaluation;
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
