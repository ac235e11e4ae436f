// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormGeometry_h
#define gpureg_FreeFormGeometry_h

#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include "engine/filter/LevelGeometry.h"

#include <cstdint>

namespace gpureg
{

/** The order of the B-spline. */
constexpr int FreeFormOrder = 3;

/** The control grid of a level over the fixed image. */
struct FreeFormGrid
{
  int      dimension = 3;
  Size     size{};
  IndexMap toImage; // maps indices of control points to indices of the fixed image
};

/** The share of each image's voxels that lies inside its mask. */
struct MaskShares
{
  double fixed = 1;
  double moving = 1;
};

/** Returns the settings with the defaults that a spacing of 0 and levels of 0 stand for. */
FreeFormSettings
CompleteSettings(const FreeFormProblem & problem, const FreeFormSettings & settings, const MaskShares & shares);

/** Returns the least number of voxels of a level; see FreeFormResult::leastVoxels. */
std::int64_t
ComputeLeastVoxels(const FreeFormProblem & problem, const FreeFormSettings & settings);

/** Returns an upper bound of the number of a level's voxels: the voxels in the fixed image's mask, limited to the volume of the moving
 *  image. \param halvings how often the resolution of the finest level, which is the image itself, is halved: here and below */
std::int64_t
CountLevelVoxels(const FreeFormProblem & problem, const MaskShares & shares, int halvings);

/** Returns how many voxels of an image along each axis one voxel of a level replaces. */
Size
ComputeLevelFactors(const FreeFormProblem & problem, const RegisteredImage & image, int halvings);

/** Returns the map from indices of a pair's fixed image to those of a level's control points. \param fixed the problem's fixed image, or
 *  that of a further pair */
IndexMap
MakeImageToGrid(const FreeFormProblem & problem, const RegisteredImage & fixed, const FreeFormGrid & grid);

FreeFormGrid
MakeFreeFormGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int halvings);

/** Returns the initial transform with vectors that are equal at all levels, so that they are uploaded once. The vectors of a chain's last
 *  grid are stored in the units of the next grid; here a further grid of the moving image's voxels, which displaces nothing, supplies that
 *  unit. \param moving the problem's moving image, or that of a further pair */
TransformChain
MakeLevelChain(const FreeFormProblem & problem, const RegisteredImage & moving);

} // namespace gpureg

#endif
