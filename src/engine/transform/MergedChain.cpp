// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/MergedChain.h"

#include "engine/transform/FixedPoint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace gpureg
{

namespace
{
// 2^30 voxels; displacements use the rest of 32 bits.
constexpr double FarthestIndex = 1073741824.0;

/** Returns the map of an index of the output region to an index relative to the voxel firstInput.
 *  \throws Error if a corner of the output, or a step between its voxels, is farther away than FarthestIndex */
kernels::FixedMap
MakeMap(const IndexMap & map, const ChainedGrid & grid, const std::array<std::int64_t, 3> & firstInput)
{
  for (std::size_t r = 0; r < 3; ++r)
  {
    double reach = std::abs(map.offset[r]);
    for (std::size_t c = 0; c < 3; ++c)
    {
      reach += std::abs(map.matrix[3 * r + c]) * (std::abs(static_cast<double>(grid.firstOutput[c])) + grid.size[c]);
    }
    if (!(reach < FarthestIndex))
    {
      throw BadInputError(
        "the transform maps the output " + std::to_string(reach) +
        " voxels away from an image; it must stay within 2^30 of them. Look for a wrong scale, origin or "
        "spacing, or for parameters that are not numbers");
    }
  }
  kernels::FixedMap fixed = ToFixedMap(map);
  for (std::size_t r = 0; r < 3; ++r)
  {
    // Subtracts and adds whole voxels exactly.
    fixed.row[4 * r + 3] -= ToFixedPoint(static_cast<double>(firstInput[r]));
    for (std::size_t c = 0; c < 3; ++c)
    {
      fixed.row[4 * r + 3] += fixed.row[4 * r + c] * grid.firstOutput[c];
    }
  }
  return fixed;
}

/** Returns how far rounding may move a position in a B-spline's grid at the ends of the grid's valid region, in units of 2^-32. Each entry
 *  of the fixed-point matrix is rounded by half a unit, and this error is multiplied by the number of voxels on the way; far origins add
 *  the rounding of doubles. The result does not depend on which region of the output is made. */
int
ComputeSlack(const IndexMap & toGrid, const DisplacementGrid & grid, int dimension)
{
  constexpr double units = 4294967296.0;
  constexpr double own = 4.0;
  constexpr double most = 1048576.0;
  double           slack = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(dimension); ++r)
  {
    const double * row = toGrid.matrix.data() + 3 * r;
    const double   step = std::max({ std::abs(row[0]), std::abs(row[1]), std::abs(row[2]) });
    const double   voxels = (std::abs(toGrid.offset[r]) + grid.size[r]) / step;
    const double   farOrigin = units * 8 * std::numeric_limits<double>::epsilon() * std::abs(grid.toGrid.offset[r]);
    slack = std::max(slack, own + voxels + farOrigin);
  }
  // A step of 0 would give more voxels than any image has.
  return static_cast<int>(std::min(slack, most));
}

int
ToKernel(GridKind kind)
{
  switch (kind)
  {
    case GridKind::Field:
      return kernels::ChainPartIsField;
    case GridKind::OfOutput:
      return kernels::ChainPartIsOfOutput;
    default:
      return kernels::ChainPartIsSpline;
  }
}

} // namespace

MergedChain
MergeChain(const ChainedGrid & grid)
{
  MergedChain  merged;
  const auto & steps = grid.transform.steps;
  IndexMap     toPoint = Compose(grid.transform.first, grid.outputToPoint);
  kernels::i64 firstVector = 0;
  for (std::size_t k = 0; k < steps.size(); ++k)
  {
    const ChainStep & step = steps[k];
    const IndexMap &  next = k + 1 < steps.size() ? steps[k + 1].grid.toGrid : grid.pointToInput;

    kernels::ChainPart part{};
    const bool         isOfOutput = step.grid.kind == GridKind::OfOutput;
    const IndexMap     toGrid = isOfOutput ? IndexMap{} : Compose(step.grid.toGrid, toPoint);
    part.toGrid = isOfOutput ? ToFixedMap({}) : MakeMap(toGrid, grid, {});
    part.firstVector = firstVector;
    part.dimension = grid.transform.dimension;
    part.kind = ToKernel(step.grid.kind);
    part.order = step.grid.order;
    part.isOpen = step.grid.isOpen;
    part.slack = ComputeSlack(toGrid, step.grid, grid.transform.dimension);
    for (std::size_t axis = 0; axis < 3; ++axis)
    {
      part.size[axis] = step.grid.size[axis];
    }
    merged.behind.push_back(Multiply(next.matrix, step.map.matrix));
    merged.fromGrid.push_back(Invert(step.grid.toGrid.matrix));
    const Matrix3 carry = Multiply(merged.behind.back(), merged.fromGrid.back());
    for (std::size_t i = 0; i < 9; ++i)
    {
      part.carry[i] = static_cast<float>(carry[i]);
      part.fixedCarry[i] = std::abs(carry[i]) < GPUREG_LARGEST_FIXED_POINT_CARRY ? ToFixedPoint(carry[i]) : 0;
    }
    firstVector += CountOf(step.grid.size);
    merged.parts.push_back(part);
    merged.vectorMatrices.push_back(Multiply(next.matrix, step.vectorMatrix));
    toPoint = Compose(step.map, toPoint);
  }
  merged.toInput = MakeMap(Compose(grid.pointToInput, toPoint), grid, grid.firstInput);
  return merged;
}

} // namespace gpureg
