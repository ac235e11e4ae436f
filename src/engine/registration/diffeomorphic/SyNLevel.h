// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_SyNLevel_h
#define gpureg_SyNLevel_h

#include "engine/registration/diffeomorphic/LevelGrid.h"
#include "engine/registration/diffeomorphic/MiddleForces.h"

#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <vector>

namespace gpureg
{

/** Returns the number of the fixed image's voxels, along each axis, per voxel of a level's grid. */
Size
GetShrinkFactors(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number);

/** Returns the grid of itk::ShrinkImageFilter. */
LevelGrid
MakeShrunkGrid(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, const Size & factors);

/** Returns all pairs as they are at a level. */
std::vector<MiddleSources>
MakeSources(const DiffeomorphicProblem & problem, const DiffeomorphicSettings & settings, int number);

} // namespace gpureg

#endif
