// SPDX-License-Identifier: Apache-2.0
// The summaries of a batch's candidates in OpenCL C: the entry point, for a metric that has a SummaryGroup(). It follows
// HistogramKernels.cl in a program. src/kernels/metric/histogram/HistogramSummaryKernels.h has the work of a group.

#ifdef GPUREG_BATCH

GPUREG_KERNEL void
BatchSummaries(const MetricArguments arguments,
               int                   firstCandidate,
               __global const u64 *  histograms,
               __local u64 *         scratch,
               __global i64 *        summaries)
{
  const int variant = arguments.histogram.samples.variant;
  BatchSummaryGroup(GPUREG_VARIANT, &arguments, firstCandidate, histograms, scratch, summaries);
}

#endif
