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

/** Returns each kind of penalty with its weight. */
std::vector<WeightedPenalty>
GetPenalties(const FreeFormSettings & settings);

/** Returns the number of penalties whose weight is not 0. */
std::int64_t
CountWeightedPenalties(const FreeFormSettings & settings);

/** Returns the similarity with its settings. */
SimilaritySettings
GetSimilarity(const FreeFormSettings & settings);

/** Returns the similarity's weight: what the penalties' weights leave of 1. */
double
GetSimilarityWeight(const FreeFormSettings & settings);

/** \throws BadInputError for settings that are out of range */
void
CheckSettings(const FreeFormProblem & problem, const FreeFormSettings & settings);

} // namespace gpureg

#endif
