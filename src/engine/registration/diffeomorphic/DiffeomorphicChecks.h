// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicChecks_h
#define gpureg_DiffeomorphicChecks_h

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

namespace gpureg
{

/** \throws BadInputError for settings out of range, and UnsupportedError for an initial transform that is not linear */
void
CheckSettings(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings);

} // namespace gpureg

#endif
