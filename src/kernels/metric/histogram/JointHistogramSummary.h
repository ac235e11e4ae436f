// SPDX-License-Identifier: Apache-2.0
// The arguments that sum up a candidate of the joint histogram's metric.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramSummary_h
#define gpureg_kernels_JointHistogramSummary_h

GPUREG_NAMESPACE_BEGIN

/** Replaces the metric's arguments in SummaryGroup(): together with these doubles, 280 bytes, they would exceed the 1024 bytes of
 *  arguments that an OpenCL kernel may have. */
typedef struct JointHistogramSummaryArguments
{
  HistogramArguments    histogram;
  JointDensityArguments density;
} JointHistogramSummaryArguments;

/** Returns the number of 64-bit numbers of scratch in a group's local memory: those for the joint density, twice, and its marginals; or,
 *  before these are needed, one for each lane, if that is more. */
GPUREG_FUNCTION int
CountSummaryScratch(const JointHistogramSummaryArguments * a, int lanes)
{
  const int bins = a->histogram.rows;
  const int densities = 2 * bins * (bins + 1);
  return densities > lanes ? densities : lanes;
}

GPUREG_NAMESPACE_END

#endif
