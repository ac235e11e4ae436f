// SPDX-License-Identifier: Apache-2.0
#include "MetricOverrides.hxx"

template struct gpuregfactories::MetricOverrides<float, 2>;
