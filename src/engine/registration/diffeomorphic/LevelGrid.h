// SPDX-License-Identifier: Apache-2.0
#ifndef gpureg_LevelGrid_h
#define gpureg_LevelGrid_h

#include "engine/registration/diffeomorphic/SchemeSteps.h"
#include "engine/registration/diffeomorphic/Slab.h"

#include <cstddef>

namespace gpureg
{

/** Describes the grid of a level's fields. */
struct LevelGrid
{
  /** The grid of the planes that the device holds. Its dimension is 0 before the first level. */
  kernels::FieldGrid grid{};
  /** Maps the level's indices to points. */
  IndexMap toPoint;
  Slab     slab;
};

/** Returns the member that the workspace's device is of a team, if the level is cut into slabs; otherwise null. */
TeamMember *
GetMemberOf(const SchemeWorkspace & workspace, const LevelGrid & level);

/** Returns the map from the indices of a level's grid to points. */
IndexMap
GetMapOfGrid(const LevelGrid & level);

/** Returns a map whose indices begin so many planes further. */
IndexMap
SkipPlanes(const IndexMap & map, std::int64_t planes);

/** Moves the beginning of the indices that a map reads by so many planes. The map's positions keep their bits. */
void
SkipPlanes(kernels::FixedMap & map, std::int64_t planes);

/** Returns a range of a level's planes as voxels of its images. */
Range
GetVoxels(const LevelGrid & level, const Range & planes);

/** Returns the grid of voxels whose indices toPoint maps to points. */
LevelGrid
MakeLevelGrid(int dimension, const Size & size, const IndexMap & toPoint);

/** Returns the planes of a level that a member of a team holds; all planes where there is no team. */
LevelGrid
CutLevel(const LevelGrid &             level,
         const TeamMember *            member,
         const DiffeomorphicProblem &  problem,
         const DiffeomorphicSettings & settings);

/** Returns the bytes of a field on a grid. */
std::size_t
CountBytes(const kernels::FieldGrid & grid);

/** Reserves an array that some registrations need, or frees that of another registration. */
void
ReserveIf(bool isNeeded, Queue & queue, MemoryPointer & array, std::size_t bytes);

/** Uploads a field on a level's grid. vectors: writes float[3] a voxel. */
void
UploadField(Queue & queue, const LevelGrid & level, const Filler & vectors, MemoryPointer & field);

/** Says what a field is outside of its grid: a grid of odd size reaches beyond that of the level before. */
enum class FieldEdge
{
  Continues,
  /** As ITK has it. */
  IsZero
};

/** Resamples a field, float[3] a voxel, from the grid of the previous level on a level's grid. Makes zeros if there was no previous level.
 *  Overwrites the workspace's first array. */
void
CarryField(SchemeWorkspace & workspace,
           const LevelGrid & before,
           const LevelGrid & level,
           FieldEdge         edge,
           MemoryPointer &   field);

/** Makes the factors of a composition, which are 1; see kernels::ComposeFields. Does nothing if factors exist. */
void
ReserveFactors(Queue & queue, MemoryPointer & factors);

} // namespace gpureg

#endif
