// SPDX-License-Identifier: Apache-2.0
// Bounds of the difference that rounding may make between two pyramids of one image, from the image and its geometry.
#ifndef PyramidRounding_h
#define PyramidRounding_h

#include "itkContinuousIndex.h"
#include "itkImageBase.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace gpuregtest
{

/** The factors along each axis between the spacing of a level and that of the image from which it is made. */
template <unsigned int VDimension>
using PyramidFactors = std::array<unsigned int, VDimension>;

/** Calls work(index) for both ends of each row of a region: for its first voxel, and for the one behind its last. */
template <unsigned int VDimension, typename TWork>
void
ForEachEndOfARow(const itk::ImageRegion<VDimension> & region, const TWork & work)
{
  const auto rows = region.GetNumberOfPixels() / region.GetSize(0);
  for (itk::SizeValueType row = 0; row < rows; ++row)
  {
    auto index = region.GetIndex();
    auto rest = row;
    for (unsigned int d = 1; d < VDimension; ++d)
    {
      index[d] += static_cast<itk::IndexValueType>(rest % region.GetSize(d));
      rest /= region.GetSize(d);
    }
    work(index);
    index[0] += static_cast<itk::IndexValueType>(region.GetSize(0));
    work(index);
  }
}

/** Returns the continuous index, in the image from which a level is made, to which ITK maps a voxel of the level by way of its point. */
template <unsigned int VDimension>
itk::ContinuousIndex<double, VDimension>
ComputeContinuousIndex(const itk::ImageBase<VDimension> & image,
                       const itk::ImageBase<VDimension> & level,
                       const itk::Index<VDimension> &     index)
{
  typename itk::ImageBase<VDimension>::PointType point;
  level.TransformIndexToPhysicalPoint(index, point);
  return image.template TransformPhysicalPointToContinuousIndex<double>(point);
}

/** Returns true if ITK's rounding moves all rows of a level identically, so that a voxel's position along an axis depends on its index
 *  along that axis alone. If axes are a permutation of the physical ones, this is not always so, since the inverse of their matrix is
 *  rounded. */
template <unsigned int VDimension>
bool
AreRowsEqual(const itk::ImageBase<VDimension> & image, const itk::ImageBase<VDimension> & level)
{
  const auto region = level.GetLargestPossibleRegion();
  bool       areEqual = true;
  ForEachEndOfARow(region, [&](const itk::Index<VDimension> & index) {
    const auto there = ComputeContinuousIndex(image, level, index);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      auto onAxis = region.GetIndex();
      onAxis[d] = index[d];
      areEqual = areEqual && there[d] == ComputeContinuousIndex(image, level, onAxis)[d];
    }
  });
  return areEqual;
}

/** Returns how far the rounding of itk::ResampleImageFilter moves a level's voxels along each axis, in voxels of the image from which
 *  the level is made. The exact position of voxel j is factor·j + (factor - 1)/2. ITK computes positions by way of points, and loses as
 *  many digits as the origin is voxels away. It does so at both ends of each row, and interpolates between them: begin + alpha·(end -
 *  begin) is moved no further than the ends, except for the rounding of its four operations. */
template <unsigned int VDimension>
std::array<double, VDimension>
ComputeDisplacement(const itk::ImageBase<VDimension> & image,
                    const itk::ImageBase<VDimension> & level,
                    const PyramidFactors<VDimension> & factors)
{
  std::array<double, VDimension> displacement{};
  std::array<double, VDimension> largestIndex{};
  ForEachEndOfARow(level.GetLargestPossibleRegion(), [&](const itk::Index<VDimension> & index) {
    const auto there = ComputeContinuousIndex(image, level, index);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const double exact = static_cast<double>(factors[d]) * static_cast<double>(index[d]) + 0.5 * (factors[d] - 1.0);
      displacement[d] = std::max(displacement[d], std::abs(there[d] - exact));
      largestIndex[d] = std::max(largestIndex[d], std::abs(exact));
    }
  });
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    displacement[d] += 4 * std::numeric_limits<double>::epsilon() * largestIndex[d];
  }
  return displacement;
}

/** Returns the largest difference between neighbours along an axis. */
template <typename TImage>
double
ComputeLargestStep(const TImage & image, unsigned int axis)
{
  const auto region = image.GetBufferedRegion();
  double     largest = 0;
  for (itk::ImageRegionConstIteratorWithIndex<TImage> it(&image, region); !it.IsAtEnd(); ++it)
  {
    auto next = it.GetIndex();
    ++next[axis];
    if (region.IsInside(next))
    {
      largest = std::max(largest, std::abs(static_cast<double>(image.GetPixel(next)) - static_cast<double>(it.Get())));
    }
  }
  return largest;
}

/** Returns the largest difference that there may be between ITK's level of real numbers and ours, if both are made from the same image.
 *  Smoothing makes no value larger and no step steeper, and interpolation between voxels is no steeper than the step between them. With
 *  the largest value M, D axes, and weights whose sum is 1:
 *  - Each filter adds up T weighted values along each axis, with an error of T·M·epsilon/2, and interpolates, 5·M·epsilon/2. Half a
 *  voxel further there is one more weight, and weights are rounded once more: T + 3 instead of T. T is at most 65.
 *  - Each filter rounds to the pixel type after each axis and after interpolation: (D + 1)·M/2 of that type's epsilon.
 *  - ITK interpolates at a displaced position; the error of the value is the displacement times the step. */
template <typename TImage>
double
ComputeLevelTolerance(const TImage &                                 image,
                      const TImage &                                 level,
                      const PyramidFactors<TImage::ImageDimension> & factors,
                      bool                                           interpolates)
{
  using PixelType = typename TImage::PixelType;
  static_assert(std::is_floating_point<PixelType>::value, "integers are cut off");
  constexpr double MostTaps = 65;
  double           largestValue = 0;
  for (itk::ImageRegionConstIteratorWithIndex<TImage> it(&image, image.GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    largestValue = std::max(largestValue, std::abs(static_cast<double>(it.Get())));
  }
  const double ofSums = TImage::ImageDimension * (MostTaps + 4) * std::numeric_limits<double>::epsilon();
  const double ofPixels = (TImage::ImageDimension + 1) * static_cast<double>(std::numeric_limits<PixelType>::epsilon());
  double       tolerance = (ofSums + ofPixels) * largestValue;
  if (interpolates)
  {
    const auto displacement = ComputeDisplacement<TImage::ImageDimension>(image, level, factors);
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      tolerance += displacement[d] * ComputeLargestStep(image, d);
    }
  }
  return tolerance;
}

} // namespace gpuregtest

#endif
