// SPDX-License-Identifier: Apache-2.0
#include "FilterOverrides.hxx"

template struct gpuregfactories::FilterOverrides<int, 2>;
template struct gpuregfactories::FilterOverrides<unsigned int, 2>;
