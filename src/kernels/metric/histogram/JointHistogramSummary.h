// SPDX-License-Identifier: Apache-2.0
// What a candidate of the joint histogram's metric is summed up by.
// Shared by C++, CUDA C++ and OpenCL C.
#ifndef gpureg_kernels_JointHistogramSummary_h
#define gpureg_kernels_JointHistogramSummary_h

GPUREG_NAMESPACE_BEGIN

/** In the place of the metric's arguments, which with these doubles, 280 bytes, would be more than the 1024 that an OpenCL
 *  kernel's may have. */
typedef struct JointHistogramSummaryArguments
{
  HistogramArguments    histogram;
  JointDensityArguments density;
} JointHistogramSummaryArguments;

/** 64-bit numbers in a group's local memory: the joint density, twice, and its marginals; before that, one of each lane. */
GPUREG_FUNCTION int
CountSummaryScratch(const JointHistogramSummaryArguments * a, int lanes)
{
  const int bins = a->histogram.rows;
  const int densities = 2 * bins * (bins + 1);
  return densities > lanes ? densities : lanes;
}

GPUREG_NAMESPACE_END

#endif
