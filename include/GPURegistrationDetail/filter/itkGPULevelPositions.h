// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPULevelPositions_h
#define itkGPULevelPositions_h

#include "itkContinuousIndex.h"
#include "itkImageBase.h"
#include "itkMath.h"

#include <algorithm>
#include <vector>

namespace itk
{
/** Computes the input positions from which itk::ResampleImageFilter, without a transform, takes a pyramid's voxels. */
namespace GPULevelPositions
{

/** Positions along one axis: voxel j of the level lies fractions[j] behind the input's voxel cells[j], counted from the first voxel. */
struct Positions
{
  std::vector<int>    cells;
  std::vector<double> fractions;
  /** Number of voxels, from the first on, that lie inside the input; ITK's output is 0 beyond the outer edge of the input's last voxel. */
  int inside = 0;
};

/** Returns the positions to the last bit, which decides on voxels that lie on an edge, or just before an input voxel. They hold for all
 * rows if rounding is the same in all rows, as for images whose axes are those of space, in their order. Along x ITK interpolates
 * positions from one end of a row to the other; along other axes it computes them row by row. Before the first voxel and behind the
 * last one, itk::LinearInterpolateImageFunction returns that voxel. */
template <unsigned int VDimension>
Positions
Find(const ImageBase<VDimension> & input, const ImageBase<VDimension> & output, unsigned int axis)
{
  const auto & from = input.GetLargestPossibleRegion();
  const auto & to = output.GetLargestPossibleRegion();
  const auto   find = [&](IndexValueType j) {
    auto index = to.GetIndex();
    index[axis] += j;
    typename ImageBase<VDimension>::PointType point;
    output.TransformIndexToPhysicalPoint(index, point);
    return input.template TransformPhysicalPointToContinuousIndex<double>(point)[axis];
  };
  const auto   size = to.GetSize(axis);
  const double rowBegin = find(0);
  const double rowEnd = find(static_cast<IndexValueType>(size));
  const auto   begin = static_cast<double>(from.GetIndex(axis));
  const auto   length = static_cast<int>(from.GetSize(axis));
  Positions    positions;
  bool         isInside = true;
  for (SizeValueType j = 0; j < size; ++j)
  {
    const double alpha = static_cast<double>(j) / static_cast<double>(size);
    const double position = axis == 0 ? rowBegin + alpha * (rowEnd - rowBegin) : find(static_cast<IndexValueType>(j));
    isInside = isInside && position >= begin - 0.5 && position < begin + length - 0.5;
    positions.inside += isInside ? 1 : 0;
    const auto floor = Math::Floor<IndexValueType>(position);
    const auto cell = floor - from.GetIndex(axis);
    const bool isBetween = cell >= 0 && cell + 1 < length;
    positions.cells.push_back(cell < 0 ? 0 : (cell < length ? static_cast<int>(cell) : length - 1));
    // For a position just below 0, itk::Math::Floor returns 0; the fraction is then 0.
    positions.fractions.push_back(isBetween ? std::max(0.0, position - static_cast<double>(floor)) : 0.0);
  }
  return positions;
}

} // namespace GPULevelPositions
} // namespace itk

#endif
