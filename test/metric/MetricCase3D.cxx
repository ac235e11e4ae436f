// SPDX-License-Identifier: Apache-2.0
#include "MetricComparison.hxx"

template gpuregtest::MetricComparison
gpuregtest::Compare<3>(const MetricCase &, const std::vector<std::string> &);
