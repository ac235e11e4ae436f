// SPDX-License-Identifier: Apache-2.0
// Names the metric for which the rest of this program is compiled.
typedef CorrelationRatioArguments MetricArguments;
