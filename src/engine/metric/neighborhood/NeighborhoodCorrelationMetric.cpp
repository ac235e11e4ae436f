// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/neighborhood/NeighborhoodCorrelationMetric.h"

#include "engine/metric/neighborhood/NeighborhoodEvaluation.h"

namespace gpureg
{

class NeighborhoodCorrelationMetric::Implementation : public NeighborhoodEvaluation
{
public:
  using NeighborhoodEvaluation::NeighborhoodEvaluation;
};

NeighborhoodCorrelationMetric::NeighborhoodCorrelationMetric(const std::string & deviceName)
  : Metric(deviceName)
  , m_Implementation(std::make_unique<Implementation>(GetCore()))
{}

NeighborhoodCorrelationMetric::~NeighborhoodCorrelationMetric()
{
  FreeUnlessForked(m_Implementation);
}

void
NeighborhoodCorrelationMetric::SetCentres(std::int64_t count, const Filler & offsets, const ParallelFor & parallelFor)
{
  m_Implementation->SetCentres(count, offsets, parallelFor);
}

NeighborhoodResult
NeighborhoodCorrelationMetric::Evaluate(const SampleMapping &     mapping,
                                        const NeighborhoodTerms & terms,
                                        Forces                    forces,
                                        const ParallelFor &       parallelFor)
{
  return m_Implementation->Evaluate(mapping, terms, forces, m_SlabBytes, parallelFor);
}

std::vector<NeighborhoodResult>
NeighborhoodCorrelationMetric::EvaluateBatch(const CandidateMaps &     candidates,
                                             const NeighborhoodTerms & terms,
                                             const ParallelFor &       parallelFor)
{
  return m_Implementation->EvaluateBatch(candidates, terms, m_SlabBytes, parallelFor);
}

} // namespace gpureg
