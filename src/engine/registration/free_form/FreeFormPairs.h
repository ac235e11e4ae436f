// SPDX-License-Identifier: Apache-2.0
// The pairs of images that a free-form deformation compares.
#ifndef gpureg_FreeFormPairs_h
#define gpureg_FreeFormPairs_h

#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include "engine/registration/ImagePairs.h"

#include <vector>

namespace gpureg
{

/** Returns all pairs, the first one included, whose weight is 1. */
std::vector<FurtherPair>
ListPairs(const FreeFormProblem & problem, const FreeFormSettings & settings);

/** Returns those that WeighPairs() does. */
std::vector<WeighedPair>
ListWeighedPairs(const FreeFormProblem & problem, const FreeFormSettings & settings);

/** Returns the similarities of the pairs that are compared beside the first one. */
std::vector<SimilaritySettings>
ListFurtherSimilarities(const FreeFormProblem & problem, const FreeFormSettings & settings);

} // namespace gpureg

#endif
