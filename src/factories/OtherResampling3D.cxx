// SPDX-License-Identifier: Apache-2.0
#include "OtherResampling.hxx"

template struct gpuregfactories::OtherResampleOverrides<3>;
