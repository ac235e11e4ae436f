// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormChecks_h
#define gpureg_FreeFormChecks_h

#include "engine/penalty/ControlPenaltyTerm.h"

#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gpureg
{

/** Each kind of penalty, with its weight. */
std::vector<WeightedPenalty>
GetPenalties(const FreeFormSettings & settings);

/** How many of them have a weight. */
std::int64_t
CountWeightedPenalties(const FreeFormSettings & settings);

/** What is left for the similarity. */
double
GetSimilarityWeight(const FreeFormSettings & settings);

/** \throws BadInputError for what is out of range. */
void
CheckSettings(const FreeFormProblem & problem, const FreeFormSettings & settings);

} // namespace gpureg

#endif
