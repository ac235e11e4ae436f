// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/histogram/MattesMetric.h"

#include "engine/metric/histogram/EntropySums.h"
#include "engine/metric/histogram/MattesEvaluation.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/runtime/MakePasses.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

class MattesMetric::Implementation : public MattesEvaluation
{
public:
  using MattesEvaluation::MattesEvaluation;
};

MattesMetric::MattesMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins(SimilarityKind::MattesMutualInformation, bins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), MakePasses<MattesPasses>(*GetCore().queue)))
{}

MattesMetric::~MattesMetric()
{
  FreeUnlessForked(m_Implementation);
}

void
MattesMetric::SetArguments(kernels::MattesArguments & a) const
{
  SetMattesArguments(GetCore().samples.GetMoving(), m_Bins, a);
}

MattesResult
MattesMetric::Evaluate(const SampleMapping & mapping, Forces forces, bool normalized, const ParallelFor & parallelFor)
{
  HistogramResult result =
    m_Implementation->Evaluate(mapping, forces, GetMattesNeeds(m_Bins), parallelFor, [&](kernels::MattesArguments & a) {
      this->SetArguments(a);
      a.normalized = normalized;
    });
  MattesResult mattes;
  static_cast<ForceResult &>(mattes) = result;
  mattes.histogram = std::move(result.histogram);
  mattes.countUnit = result.countUnit;
  return mattes;
}

std::vector<MutualInformation>
MattesMetric::EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
{
  const auto summaries =
    m_Implementation->Summarize(candidates, GetMattesNeeds(m_Bins), parallelFor, [this](kernels::MattesArguments & a) {
      this->SetArguments(a);
    });
  return ComputeMutualInformation(summaries, candidates, m_Bins, [&](const SampleMapping & mapping) {
    return this->Evaluate(mapping, Forces::None, false, parallelFor);
  });
}

} // namespace gpureg
