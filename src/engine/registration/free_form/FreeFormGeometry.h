// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormGeometry_h
#define gpureg_FreeFormGeometry_h

#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include "engine/filter/LevelGeometry.h"

#include <cstdint>

namespace gpureg
{

/** Of a free-form deformation's control points. */
constexpr int FreeFormOrder = 3;

/** A level's control grid over the fixed image. */
struct LevelGrid
{
  int      dimension = 3;
  Size     size{};
  IndexMap toImage; // index of a control point → index of the fixed image
};

/** The shares of the images' voxels that are inside of their masks. */
struct MaskShares
{
  double fixed = 1;
  double moving = 1;
};

/** With what a spacing and levels of 0 stand for. */
FreeFormSettings
CompleteSettings(const FreeFormProblem & problem, const FreeFormSettings & settings, const MaskShares & shares);

/** See FreeFormResult::leastVoxels. */
std::int64_t
FindLeastVoxels(const FreeFormSettings & settings);

/** How many of a level's voxels there are to look at, at most: what is in the fixed image's mask, and no more room than the moving
 *  image's has. */
std::int64_t
CountLevelVoxels(const FreeFormProblem & problem, const MaskShares & shares, int level);

/** How many voxels of an image along each axis one of a level stands for; the finest is level 0, the image itself. */
Size
FindLevelFactors(const FreeFormProblem & problem, const RegisteredImage & image, int level);

LevelGrid
MakeLevelGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int level);

/** The initial transform with vectors that are the same at every level, so that they are sent once. Those of a chain's last grid are in
 *  the units of what they lead to: here of another grid, the moving image's voxels, which moves nothing. */
TransformChain
MakeLevelChain(const FreeFormProblem & problem);

} // namespace gpureg

#endif
