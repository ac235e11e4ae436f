// SPDX-License-Identifier: Apache-2.0
#include "FilterOverrides.hxx"

template struct gpuregfactories::FilterOverrides<unsigned char, 3>;
template struct gpuregfactories::FilterOverrides<short, 3>;
template struct gpuregfactories::FilterOverrides<unsigned short, 3>;
