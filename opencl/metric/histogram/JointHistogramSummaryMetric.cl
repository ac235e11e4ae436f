// SPDX-License-Identifier: Apache-2.0
// What the rest of this program is compiled for: its groups sum up what those of JointHistogramMetric.cl have counted.
typedef JointHistogramSummaryArguments MetricArguments;
