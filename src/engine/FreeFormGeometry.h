// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormGeometry_h
#define gpureg_FreeFormGeometry_h

#include "gpureg/FreeFormRegistration.h"

#include "LevelGeometry.h"

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

/** mm between a finest level's control points along an axis of the fixed image: what the settings have, or what 0 of them stands for. */
double
GetControlPointSpacing(const FreeFormProblem & problem, const FreeFormSettings & settings, int axis);

LevelGrid
MakeLevelGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int level);

/** The initial transform with vectors that are the same at every level, so that they are sent once. Those of a chain's last grid are in
 *  the units of what they lead to: here of another grid, the moving image's voxels, which moves nothing. */
TransformChain
MakeLevelChain(const FreeFormProblem & problem);

} // namespace gpureg

#endif
