// SPDX-License-Identifier: Apache-2.0
// The pairs of images that a global search compares.
#ifndef gpureg_GlobalPairs_h
#define gpureg_GlobalPairs_h

#include "gpureg/registration/global/GlobalRegistration.h"

#include "engine/registration/ImagePairs.h"

#include <vector>

namespace gpureg
{

/** Returns all pairs, the first one included, whose weight is 1. */
std::vector<FurtherPair>
ListPairs(const GlobalProblem & problem, const GlobalSettings & settings);

/** Returns the edge of the finest level's voxels: that of the settings, or else ComputeUsualEdge() of the images of all pairs. */
double
ComputeFinestEdge(const std::vector<FurtherPair> & pairs, int dimension, const GlobalSettings & settings);

} // namespace gpureg

#endif
