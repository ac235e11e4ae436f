// SPDX-License-Identifier: Apache-2.0
#include "FilterOverrides.hxx"

template struct gpuregfactories::FilterOverrides<unsigned char, 2>;
template struct gpuregfactories::FilterOverrides<short, 2>;
template struct gpuregfactories::FilterOverrides<unsigned short, 2>;
