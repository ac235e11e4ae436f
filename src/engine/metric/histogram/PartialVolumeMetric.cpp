// SPDX-License-Identifier: Apache-2.0
#include "gpureg/metric/histogram/PartialVolumeMetric.h"

#include "engine/metric/histogram/EntropySums.h"
#include "engine/metric/histogram/HistogramEvaluation.h"
#include "engine/metric/histogram/PartialVolumePasses.h"
#include "engine/metric/SimilarityChoices.h"
#include "engine/runtime/MakePasses.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpureg
{

static_assert(PartialVolumeMetric::MostBins == kernels::MostPartialVolumeBins, "a byte holds a bin");

namespace
{
constexpr HistogramNeeds Needs{ kernels::MostPartialVolumeSamplesPerChunk, 1.0 };
} // namespace

class PartialVolumeMetric::Implementation : public HistogramEvaluation<kernels::PartialVolumeArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

PartialVolumeMetric::PartialVolumeMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins(SimilarityKind::PartialVolumeMutualInformation, bins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), MakePasses<PartialVolumePasses>(*GetCore().queue)))
{}

PartialVolumeMetric::~PartialVolumeMetric()
{
  FreeUnlessForked(m_Implementation);
}

void
PartialVolumeMetric::CheckHasBins() const
{
  if (!HasBins(GetCore().samples.GetMoving()))
  {
    throw BadInputError("partial volume reads the moving voxels' bins: set a moving image that has them");
  }
}

void
PartialVolumeMetric::SetArguments(kernels::PartialVolumeArguments & a) const
{
  a.histogram.rows = a.histogram.columns = a.histogram.tableColumns = m_Bins;
}

PartialVolumeResult
PartialVolumeMetric::Evaluate(const SampleMapping &         mapping,
                              Forces                        forces,
                              bool                          normalized,
                              const std::array<double, 9> & indexByMm,
                              const ParallelFor &           parallelFor)
{
  this->CheckHasBins();
  HistogramResult sums =
    m_Implementation->Evaluate(mapping, forces, Needs, parallelFor, [&](kernels::PartialVolumeArguments & a) {
      this->SetArguments(a);
      std::copy(indexByMm.begin(), indexByMm.end(), a.indexByMm);
      a.normalized = normalized;
    });
  PartialVolumeResult result;
  static_cast<ForceResult &>(result) = sums;
  result.histogram = std::move(sums.histogram);
  result.countUnit = sums.countUnit;
  return result;
}

std::vector<MutualInformation>
PartialVolumeMetric::EvaluateBatch(const CandidateMaps & candidates, const ParallelFor & parallelFor)
{
  this->CheckHasBins();
  const auto summaries =
    m_Implementation->Summarize(candidates, Needs, parallelFor, [this](kernels::PartialVolumeArguments & a) {
      this->SetArguments(a);
    });
  return ComputeMutualInformation(summaries, candidates, m_Bins, [&](const SampleMapping & mapping) {
    return this->Evaluate(mapping, Forces::None, false, {}, parallelFor);
  });
}

} // namespace gpureg
