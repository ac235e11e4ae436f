// SPDX-License-Identifier: Apache-2.0
// The metric that the rest of this program is compiled for.
typedef PartialVolumeArguments MetricArguments;
