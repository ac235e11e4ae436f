// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_FreeFormGeometry_h
#define gpureg_FreeFormGeometry_h

#include "gpureg/FreeFormRegistration.h"

namespace gpureg
{

/** How many levels a pyramid may have. */
constexpr int MostFreeFormLevels = 5;

/** Of a free-form deformation's control points. */
constexpr int FreeFormOrder = 3;

/** Length of a voxel's edges, by the map from indices to points. */
std::array<double, 3>
GetSpacing(const IndexMap & indexToPoint);
inline std::array<double, 3>
GetSpacing(const FreeFormImage & image)
{
  return GetSpacing(image.indexToPoint);
}

double
FindShortestEdge(const FreeFormImage & image, int dimension);

/** How many voxels along each axis one of a level stands for: as many as bring its edges to that length, and leave some. */
Size
FindFactors(const FreeFormImage & image, int dimension, double edge);

IndexMap
InvertMap(const IndexMap & map);

/** A level's control grid over the fixed image. */
struct LevelGrid
{
  Size     size{};
  IndexMap toImage; // index of a control point → index of the fixed image
};

LevelGrid
MakeLevelGrid(const FreeFormProblem & problem, const FreeFormSettings & settings, int level);

/** The initial transform with vectors that are the same at every level, so that they are sent once. Those of a chain's last grid are in
 *  the units of what they lead to: here of another grid, the moving image's voxels, which moves nothing. */
TransformChain
MakeLevelChain(const FreeFormProblem & problem);

} // namespace gpureg

#endif
