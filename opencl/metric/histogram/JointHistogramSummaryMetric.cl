// SPDX-License-Identifier: Apache-2.0
// Names the arguments of this program, whose groups sum up the counts of JointHistogramMetric.cl's groups.
typedef JointHistogramSummaryArguments MetricArguments;
