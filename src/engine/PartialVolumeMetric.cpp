// SPDX-License-Identifier: Apache-2.0
#include "gpureg/PartialVolumeMetric.h"

#include "HistogramEvaluation.h"
#include "PartialVolumePasses.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace gpureg
{

static_assert(PartialVolumeMetric::MostBins == kernels::MostPartialVolumeBins, "a byte tells them apart");

class PartialVolumeMetric::Implementation : public HistogramEvaluation<kernels::PartialVolumeArguments>
{
public:
  using HistogramEvaluation::HistogramEvaluation;
};

PartialVolumeMetric::PartialVolumeMetric(const std::string & deviceName, int bins)
  : Metric(deviceName)
  , m_Bins(CheckedBins("a joint histogram by partial volume", bins, LeastBins, MostBins))
  , m_Implementation(std::make_unique<Implementation>(GetCore(), GetCore().queue->CreatePartialVolumePasses()))
{}

PartialVolumeMetric::~PartialVolumeMetric()
{
  FreeUnlessForked(m_Implementation);
}

PartialVolumeResult
PartialVolumeMetric::Evaluate(const SampleMapping &         mapping,
                              Forces                        forces,
                              bool                          normalized,
                              const std::array<double, 9> & indexByMm,
                              const ParallelFor &           parallelFor)
{
  if (!GetCore().samples.GetMoving().bins)
  {
    throw BadInputError("partial volume reads the moving voxels' bins: set a moving image that has them");
  }
  HistogramResult     sums = m_Implementation->Evaluate(mapping,
                                                    forces,
                                                    { kernels::MostPartialVolumeSamplesPerChunk, 1.0 },
                                                    parallelFor,
                                                    [&](kernels::PartialVolumeArguments & a) {
                                                      a.histogram.rows = m_Bins;
                                                      a.histogram.columns = m_Bins;
                                                      a.histogram.tableColumns = m_Bins;
                                                      std::copy(indexByMm.begin(), indexByMm.end(), a.indexByMm);
                                                      a.normalized = normalized;
                                                    });
  PartialVolumeResult result;
  static_cast<ForceResult &>(result) = sums;
  result.histogram = std::move(sums.histogram);
  result.countUnit = sums.countUnit;
  return result;
}

} // namespace gpureg
