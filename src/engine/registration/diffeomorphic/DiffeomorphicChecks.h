// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicChecks_h
#define gpureg_DiffeomorphicChecks_h

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

namespace gpureg
{

/** \throws BadInputError for settings out of range, and UnsupportedError for what a scheme does not have */
void
CheckSettings(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings);

} // namespace gpureg

#endif
