// SPDX-License-Identifier: Apache-2.0
// An evaluation of the correlation ratio: that of a metric with a histogram, whose first pass is done by a scheme.
#ifndef gpureg_CorrelationRatioEvaluation_h
#define gpureg_CorrelationRatioEvaluation_h

#include "gpureg/metric/histogram/CorrelationRatioMetric.h"

#include "engine/metric/histogram/CorrelationRatioPasses.h"
#include "engine/metric/histogram/CorrelationRatioSchemePasses.h"
#include "engine/metric/histogram/HistogramEvaluation.h"

#include <cstdint>
#include <memory>

namespace gpureg
{

/** What the needs of its chunks are. */
constexpr HistogramNeeds CorrelationRatioNeeds{ kernels::MostSamplesOfCorrelationRatio, 1.0 };

/** Sets the histogram's size, by the variant as it is. */
inline void
SetCorrelationRatioArguments(int bins, kernels::CorrelationRatioArguments & a)
{
  // An even number of rows: see kernels::CorrelationRatioSquaresShift.
  a.histogram.rows = bins + bins % 2;
  a.histogram.tableColumns = kernels::CorrelationRatioTableColumns;
  a.histogram.columns = kernels::CountCorrelationRatioColumns(a.histogram.samples.variant);
}

/** The unit of the sums of values, and of their squares: see kernels::ReadChunk. */
inline double
GetCorrelationRatioUnit(double countUnit, bool countsHalves)
{
  return countUnit * (countsHalves ? 1.0 : double{ 1 << kernels::CorrelationRatioRestBits });
}

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

  /** \throws Error unless it is valid, and the device has it. */
  void
  SetLaunchShape(const LaunchShape & shape);

  /** Of the last evaluation; zeros on the host. */
  const LaunchShape &
  GetUsedLaunchShape() const
  {
    return m_UsedShape;
  }

private:
  void
  PrepareFirstPass() override;
  void
  EnqueueFirstPass() override;
  int
  CountChunks() const override;
  bool
  KeepsChunkHistograms() const override;
  bool
  HasShape() const
  {
    return m_Shape.groups > 0 || m_Shape.lanes > 0;
  }
  /** Whether the first pass is the scheme's, not the one that all metrics have. */
  bool
  HasSchemeLaunch() const;
  /** What the scheme launches. The samples may be cut into other chunks than those of the forces, the histogram into other
   *  bands. */
  SchemeLaunch
  MakeSchemeLaunch() const;
  /** Cuts the samples into chunks for the launch's lanes, of which each of its groups does equally many. */
  void
  CutChunks(SchemeLaunch & launch) const;
  /** Sorts the samples and cuts them into workloads, unless that was done. */
  void
  PrepareWorkloads();

  std::unique_ptr<CorrelationRatioSchemePasses> m_SchemePasses; // null where there is one loop for all
  CorrelationRatioScheme                        m_Scheme = CorrelationRatioScheme::SharedMerge;
  SchemeArrays                                  m_SchemeArrays;
  std::uint64_t m_SortedSamples = 0; // SampleSet::GetFixedStamp() of those sorted; 0: none
  kernels::u32  m_WorkloadLimit = CorrelationRatioMetric::DefaultWorkloadLimit;
  LaunchShape   m_Shape;
  LaunchShape   m_UsedShape;
};

} // namespace gpureg

#endif
