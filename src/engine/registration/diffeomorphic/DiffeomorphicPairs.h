// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_DiffeomorphicPairs_h
#define gpureg_DiffeomorphicPairs_h

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include "engine/registration/ImagePairs.h"

#include <cstddef>
#include <vector>

namespace gpureg
{

/** Returns all pairs, the first one included. */
std::vector<FurtherPair>
ListPairs(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings);

/** Returns those that WeighPairs() does. */
std::vector<WeighedPair>
ListWeighedPairs(const DiffeomorphicProblem &  problem,
                 const DiffeomorphicSettings & settings,
                 FirstPair                     first = FirstPair::IsDropped);

/** Returns the largest radius of the neighborhoods that any pair is compared by; 0 if none is. */
int
FindLargestRadius(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings);

/** Returns true if a level begins with a deformation. number: the level's, from 0 on */
bool
BeginsDeformed(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number);

/** Returns what to do about images that do not overlap, for messages. areDeformed: true where the deformation has moved them */
const char *
FindRemedyOfNoOverlap(bool areDeformed);

/** Throws BadInputError about a pair of images of which no voxel can be compared.
 *  \param pair its number \param areDeformed see FindRemedyOfNoOverlap() */
[[noreturn]] void
ThrowNoOverlap(std::size_t pair, bool areDeformed);

} // namespace gpureg

#endif
