// SPDX-License-Identifier: Apache-2.0
#include "engine/registration/diffeomorphic/LevelGrid.h"

#include "engine/field/FieldGeometry.h"
#include "engine/runtime/ForEachItem.h"
#include "engine/runtime/Transfer.h"
#include "engine/transform/FixedPoint.h"

#include "gpureg/transform/TransformChain.h"

#include <utility>
#include <vector>

namespace gpureg
{

std::size_t
CountBytes(const kernels::FieldGrid & grid)
{
  return 3 * sizeof(float) * static_cast<std::size_t>(kernels::CountFieldVoxels(&grid));
}

LevelGrid
MakeLevelGrid(int dimension, const Size & size, const IndexMap & toPoint)
{
  return { MakeFieldGrid(dimension, size, toPoint), toPoint };
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
  a.toField = ToFixedMap(Compose(InvertMap(before.toPoint), level.toPoint));
  a.grid = level.grid;
  a.fieldGrid = before.grid;
  a.continues = edge == FieldEdge::Continues;
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
