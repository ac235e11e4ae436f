// SPDX-License-Identifier: Apache-2.0
// The geometry of a field of displacements, and what the kernels of fields need of it.
#ifndef gpureg_FieldGeometry_h
#define gpureg_FieldGeometry_h

#include "gpureg/core/Geometry.h"

#include "engine/core/Matrix3.h"
#include "engine/filter/LevelGeometry.h"
#include "kernels/core/Prelude.h"
#include "kernels/transform/FixedMap.h"
#include "kernels/field/FieldGrid.h"

#include <array>
#include <cstddef>

namespace gpureg
{

/** Says where a field's voxels lie, as an itk::Image does. In two dimensions a field has one voxel along z, the spacing there is 1, and
 *  the direction's third row and column are those of the identity. */
struct FieldGeometry
{
  int                dimension = 3;
  Size               size{ 1, 1, 1 };
  std::array<int, 3> firstIndex{ 0, 0, 0 };
  Vector3            spacing{ 1, 1, 1 };
  Vector3            origin{ 0, 0, 0 };
  Matrix3            direction{ 1, 0, 0, 0, 1, 0, 0, 0, 1 };
};

/** Returns the map from indices, counted from geometry's first voxel, to points. */
inline IndexMap
ComputeIndexToPhysical(const FieldGeometry & geometry)
{
  IndexMap map;
  map.offset = geometry.origin;
  for (std::size_t r = 0; r < 3; ++r)
  {
    for (std::size_t c = 0; c < 3; ++c)
    {
      map.matrix[3 * r + c] = geometry.direction[3 * r + c] * geometry.spacing[c];
      map.offset[r] += map.matrix[3 * r + c] * geometry.firstIndex[c];
    }
  }
  return map;
}

/** Returns a grid of voxels for kernels, whose upper border is its last voxels'.
 *  \param toPhysical the matrix from indices to mm
 *  \throws BadInputError if the directions are not linearly independent */
inline kernels::FieldGrid
MakeFieldGrid(int dimension, const Size & size, const Matrix3 & toPhysical, const Vector3 & spacing)
{
  const Matrix3      toIndex = Invert(toPhysical);
  kernels::FieldGrid grid{};
  grid.dimension = dimension;
  for (std::size_t d = 0; d < 3; ++d)
  {
    grid.size[d] = size[d];
    grid.upperBorder[d] = size[d] - 1;
    grid.perSpacing[d] = static_cast<float>(1.0 / spacing[d]);
  }
  for (std::size_t i = 0; i < 9; ++i)
  {
    grid.toIndex[i] = static_cast<float>(toIndex[i]);
  }
  return grid;
}

/** Returns the same for voxels whose indices toPoint maps to mm. */
inline kernels::FieldGrid
MakeFieldGrid(int dimension, const Size & size, const IndexMap & toPoint)
{
  return MakeFieldGrid(dimension, size, toPoint.matrix, GetSpacing(toPoint));
}

/** Returns what kernels need of geometry. The upper border is where ITK's smoothing of SyN and itk::InvertDisplacementFieldImageFilter look
 *  for it: at index size - firstIndex - 1, which is the last voxel's only where the first index is 0.
 *  \throws BadInputError if the directions are not linearly independent */
inline kernels::FieldGrid
MakeFieldGrid(const FieldGeometry & geometry)
{
  kernels::FieldGrid grid =
    MakeFieldGrid(geometry.dimension, geometry.size, ComputeIndexToPhysical(geometry).matrix, geometry.spacing);
  for (std::size_t d = 0; d < 3; ++d)
  {
    grid.upperBorder[d] -= 2 * geometry.firstIndex[d];
  }
  return grid;
}

} // namespace gpureg

#endif
