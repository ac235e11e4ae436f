// SPDX-License-Identifier: Apache-2.0
// The work-groups that sum up the histograms that HistogramBatchKernels.h counts, for metrics that have a SummaryGroup(), for the devices
// that have work-groups: CUDA and OpenCL.
#ifndef gpureg_kernels_HistogramSummaryKernels_h
#define gpureg_kernels_HistogramSummaryKernels_h

GPUREG_NAMESPACE_BEGIN

/** Calls the metric's SummaryGroup for each candidate: summaries[firstCandidate + candidate][SummaryCount]. */
GPUREG_METRIC_GROUP_FUNCTION void
BatchSummaryGroup(int                       variant,
                  const MetricArguments *   a,
                  int                       firstCandidate,
                  GPUREG_GLOBAL const u64 * histograms,
                  GPUREG_LOCAL u64 *        scratch,
                  GPUREG_GLOBAL i64 *       summaries)
{
  const i64 candidate = GroupIndex();
  SummaryGroup(variant,
               a,
               histograms + candidate * a->histogram.rows * a->histogram.columns,
               scratch,
               summaries + (firstCandidate + candidate) * SummaryCount);
}

GPUREG_NAMESPACE_END

#endif
