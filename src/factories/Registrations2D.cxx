// SPDX-License-Identifier: Apache-2.0
#include "RegistrationOverrides.hxx"

template struct gpuregfactories::RegistrationOverrides<2>;
