// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_TeamChecks_h
#define gpureg_TeamChecks_h

#include "gpureg/registration/diffeomorphic/TeamRegistration.h"

#include <cstddef>

namespace gpureg
{

/** \throws UnsupportedError for what several devices do not register together */
void
CheckIsForTeams(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, std::size_t devices);

/** \throws BadInputError unless two devices have the same problem, but for where its images are */
void
CheckAreAlike(const DiffeomorphicProblem & a, const DiffeomorphicProblem & b);

} // namespace gpureg

#endif
