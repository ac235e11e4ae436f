// SPDX-License-Identifier: Apache-2.0
// An evaluation of the correlation ratio: the evaluation of a histogram metric whose first pass follows a selectable scheme.
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

/** The limits of the correlation ratio's chunks. */
constexpr HistogramNeeds CorrelationRatioNeeds{ kernels::MostSamplesOfCorrelationRatio, 1.0 };

/** Sets the histogram's size. Reads the variant, which must be set. */
inline void
SetCorrelationRatioArguments(int bins, kernels::CorrelationRatioArguments & a)
{
  // Rounds the number of rows up to an even number; see kernels::CorrelationRatioSquaresShift.
  a.histogram.rows = bins + bins % 2;
  a.histogram.tableColumns = kernels::CorrelationRatioTableColumns;
  a.histogram.columns = kernels::CountCorrelationRatioColumns(a.histogram.samples.variant);
}

/** Returns the unit of the sums of values, and of their squares; see kernels::ReadChunk. */
inline double
GetCorrelationRatioUnit(double countUnit, bool countsHalves)
{
  return countUnit * (countsHalves ? 1.0 : double{ 1 << kernels::CorrelationRatioRestBits });
}

class CorrelationRatioEvaluation : public HistogramEvaluation<kernels::CorrelationRatioArguments>
{
public:
  explicit CorrelationRatioEvaluation(MetricCore & core);

  /** Sets the scheme of the first pass. \throws Error if there is no such scheme */
  void
  SetScheme(CorrelationRatioScheme scheme);

  CorrelationRatioScheme
  GetScheme() const
  {
    return m_Scheme;
  }

  /** Sets the most samples of a workload. \throws Error if samples is less than 1 */
  void
  SetWorkloadLimit(int samples);

  /** Sets the shape of the first pass's launch. \throws Error unless the shape is valid, and the device supports it */
  void
  SetLaunchShape(const LaunchShape & shape);

  /** Returns the launch shape of the last evaluation; zeros on the host. */
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
  StoresChunkHistograms() const override;
  bool
  HasShape() const
  {
    return m_Shape.groups > 0 || m_Shape.lanes > 0;
  }
  /** Returns true if the scheme launches its own first pass, and not the pass that all metrics share. */
  bool
  HasSchemeLaunch() const;
  /** Returns what the scheme launches. Its samples may be cut into other chunks than those of the forces, and its histogram into other
   *  bands. */
  SchemeLaunch
  MakeSchemeLaunch() const;
  /** Cuts the samples into chunks for the launch's lanes, equally many for each group. */
  void
  CutChunks(SchemeLaunch & launch) const;
  /** Sorts the samples and cuts them into workloads, unless that is done. */
  void
  PrepareWorkloads();

  std::unique_ptr<CorrelationRatioSchemePasses> m_SchemePasses; // null where all schemes run one loop
  CorrelationRatioScheme                        m_Scheme = CorrelationRatioScheme::SharedMerge;
  SchemeArrays                                  m_SchemeArrays;
  std::uint64_t m_SortedSamples = 0; // SampleSet::GetFixedStamp() of the sorted samples; 0: none
  kernels::u32  m_WorkloadLimit = CorrelationRatioMetric::DefaultWorkloadLimit;
  LaunchShape   m_Shape;
  LaunchShape   m_UsedShape;
};

} // namespace gpureg

#endif
