// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/LevelGrid.h"

#include "engine/field/FieldGeometry.h"
#include "engine/registration/diffeomorphic/DeviceTeam.h"
#include "engine/registration/diffeomorphic/DiffeomorphicPairs.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/FixedPoint.h"

#include "gpureg/transform/TransformChain.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gpureg
{

namespace
{
/** Returns the planes of the level before between which those lie that the device holds of a level, and one more on either side. */
Range
FindPlanesBefore(const IndexMap & toBefore, const LevelGrid & before, const LevelGrid & level)
{
  const auto map = [&toBefore](std::int64_t plane) {
    return toBefore.offset[2] + toBefore.matrix[8] * static_cast<double>(plane);
  };
  const auto clamp = [&before](double plane) {
    return std::clamp<std::int64_t>(std::llround(plane), 0, before.slab.planes - 1);
  };
  const std::int64_t first = clamp(std::floor(map(level.slab.held.first)) - 1);
  const std::int64_t last = clamp(std::ceil(map(level.slab.held.GetEnd() - 1)) + 1);
  return { first, last - first + 1 };
}
} // namespace

std::size_t
CountBytes(const kernels::FieldGrid & grid)
{
  return 3 * sizeof(float) * static_cast<std::size_t>(kernels::CountFieldVoxels(&grid));
}

LevelGrid
MakeLevelGrid(int dimension, const Size & size, const IndexMap & toPoint)
{
  return { MakeFieldGrid(dimension, size, toPoint), toPoint, MakeWholeSlab(size[2]) };
}

LevelGrid
CutLevel(const LevelGrid &             level,
         const TeamMember *            member,
         const DiffeomorphicProblem &  problem,
         const DiffeomorphicSettings & settings)
{
  LevelGrid cut = level;
  if (member != nullptr)
  {
    cut.slab = member->Cut(level.grid.size[2], CountHaloPlanes(settings, FindLargestRadius(problem, settings)));
    cut.grid.size[2] = static_cast<int>(cut.slab.held.count);
    cut.grid.upperBorder[2] -= static_cast<int>(cut.slab.held.first);
  }
  return cut;
}

TeamMember *
GetMemberOf(const SchemeWorkspace & workspace, const LevelGrid & level)
{
  return level.slab.IsWhole() ? nullptr : workspace.team.slabs;
}

IndexMap
GetMapOfGrid(const LevelGrid & level)
{
  return SkipPlanes(level.toPoint, level.slab.held.first);
}

IndexMap
SkipPlanes(const IndexMap & map, std::int64_t planes)
{
  IndexMap further = map;
  for (std::size_t r = 0; r < 3; ++r)
  {
    further.offset[r] += map.matrix[3 * r + 2] * static_cast<double>(planes);
  }
  return further;
}

void
SkipPlanes(kernels::FixedMap & map, std::int64_t planes)
{
  for (int r = 0; r < 3; ++r)
  {
    map.row[4 * r + 3] += map.row[4 * r + 2] * planes;
  }
}

Range
GetVoxels(const LevelGrid & level, const Range & planes)
{
  const std::int64_t ofPlane = static_cast<std::int64_t>(level.grid.size[0]) * level.grid.size[1];
  return { planes.first * ofPlane, planes.count * ofPlane };
}

void
ReserveIf(bool isNeeded, Queue & queue, MemoryPointer & array, std::size_t bytes)
{
  if (isNeeded)
  {
    Reserve(queue, array, bytes);
  }
  else
  {
    array.reset();
  }
}

void
UploadField(Queue & queue, const LevelGrid & level, const Filler & vectors, MemoryPointer & field)
{
  Reserve(queue, field, CountBytes(level.grid));
  UploadArray(queue, *field, 0, 3 * sizeof(float), kernels::CountFieldVoxels(&level.grid), vectors);
}

void
CarryField(
  SchemeWorkspace & workspace, const LevelGrid & before, const LevelGrid & level, FieldEdge edge, MemoryPointer & field)
{
  Queue &            queue = *workspace.queue;
  const std::int64_t voxels = kernels::CountFieldVoxels(&level.grid);
  if (before.grid.dimension == 0)
  {
    Reserve(queue, field, CountBytes(level.grid));
    ForEachItem<kernels::ClearElementKernel>(queue, 3 * voxels, Output<float>(*field));
    return;
  }
  kernels::FieldResampling a{};
  const IndexMap           toBefore = Compose(InvertMap(before.toPoint), level.toPoint);
  Range                    planes = before.slab.held;
  a.grid = level.grid;
  a.fieldGrid = before.grid;
  a.continues = edge == FieldEdge::Continues;
  if (TeamMember * const member = GetMemberOf(workspace, before))
  {
    // The seams of levels lie elsewhere, and some arrays have no halo that is current.
    planes = FindPlanesBefore(toBefore, before, level);
    field = member->CollectPlanes(queue, before, *field, planes);
    a.fieldGrid.size[2] = static_cast<int>(planes.count);
  }
  a.toField = ToFixedMap(toBefore);
  SkipPlanes(a.toField, level.slab.held.first);
  a.toField.row[11] -= ToFixedPoint(static_cast<double>(planes.first));
  ForEachItem<kernels::ResampleFieldKernel>(
    queue, voxels, Precision::Single, a, Input<RealNumber>(*field), Output<RealNumber>(*workspace.first));
  Reserve(queue, field, CountBytes(level.grid));
  std::swap(field, workspace.first);
}

void
ReserveFactors(Queue & queue, MemoryPointer & factors)
{
  if (!factors)
  {
    Reserve(queue, factors, kernels::CompositionFactors * sizeof(float));
    UploadArray(queue, *factors, std::vector<float>(kernels::CompositionFactors, 1.0F));
  }
}

} // namespace gpureg
