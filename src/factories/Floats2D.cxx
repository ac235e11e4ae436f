// SPDX-License-Identifier: Apache-2.0
#include "FilterOverrides.hxx"

template struct gpuregfactories::FilterOverrides<float, 2>;
template struct gpuregfactories::FilterOverrides<double, 2>;
