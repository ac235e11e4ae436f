// SPDX-License-Identifier: Apache-2.0
// An evaluation of the correlation ratio: that of a metric with a histogram, whose first pass is done by a scheme.
#ifndef gpureg_CorrelationRatioEvaluation_h
#define gpureg_CorrelationRatioEvaluation_h

#include "gpureg/CorrelationRatioMetric.h"

#include "CorrelationRatioPasses.h"
#include "CorrelationRatioSchemePasses.h"
#include "HistogramEvaluation.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

class CorrelationRatioEvaluation : public HistogramEvaluation<kernels::CorrelationRatioArguments>
{
public:
  explicit CorrelationRatioEvaluation(MetricCore & core);

  /** \throws Error if it is not one of them. */
  void
  SetScheme(CorrelationRatioScheme scheme);

  CorrelationRatioScheme
  GetScheme() const
  {
    return m_Scheme;
  }

  /** \throws Error if it is less than 1. */
  void
  SetWorkloadLimit(int samples);

private:
  void
  PrepareFirstPass() override;
  void
  EnqueueFirstPass() override;
  bool
  KeepsChunkHistograms() const override;
  /** The scheme's arguments, which may cut the histogram into other bands than the forces' are. */
  kernels::CorrelationRatioArguments
  MakeSchemeArguments() const;
  /** Sorts the samples and cuts them into parts, unless that was done. */
  void
  PrepareParts();

  std::unique_ptr<CorrelationRatioSchemePasses> m_SchemePasses; // null where there is one loop for all
  CorrelationRatioScheme                        m_Scheme = CorrelationRatioScheme::SharedMerge;
  SchemeArrays                                  m_SchemeArrays;
  std::uint64_t m_SortedSamples = 0; // SampleSet::GetFixedStamp() of those sorted; 0: none
  kernels::u32  m_WorkloadLimit = CorrelationRatioMetric::DefaultWorkloadLimit;
};

} // namespace gpureg

#endif
