// SPDX-License-Identifier: Apache-2.0
// Finds the range of an image's values inside a mask, on the host's threads.
#ifndef itkGPUMaskedRange_h
#define itkGPUMaskedRange_h

#include "GPURegistrationDetail/core/itkGPUMaskVoxels.h"

#include "gpureg/core/ParallelFor.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace itk
{
namespace GPURegistrationDetail
{

/** The least and the greatest value; of no values, the greatest number and the least. */
using RangeOfValues = std::pair<double, double>;

/** Returns the range of the buffered voxels for which isInside(number of the voxel) is true. */
template <typename TImage, typename TIsInside>
RangeOfValues
ComputeRangeWhere(const TImage & image, const TIsInside & isInside, const gpureg::ParallelFor & parallelFor)
{
  const auto                 count = static_cast<std::int64_t>(image.GetBufferedRegion().GetNumberOfPixels());
  const auto * const         buffer = image.GetBufferPointer();
  const std::int64_t         perTask = std::int64_t{ 1 } << 16;
  const std::int64_t         tasks = (count + perTask - 1) / perTask;
  RangeOfValues              range{ std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest() };
  std::vector<RangeOfValues> ranges(tasks, range);
  parallelFor(tasks, [&](std::int64_t task) {
    RangeOfValues part = range;
    for (std::int64_t i = task * perTask; i < std::min(count, (task + 1) * perTask); ++i)
    {
      if (isInside(i))
      {
        part.first = std::min(part.first, static_cast<double>(buffer[i]));
        part.second = std::max(part.second, static_cast<double>(buffer[i]));
      }
    }
    ranges[task] = part;
  });
  for (const auto & part : ranges)
  {
    range.first = std::min(range.first, part.first);
    range.second = std::max(range.second, part.second);
  }
  return range;
}

/** Returns the range of the buffered voxels inside a mask. */
template <typename TImage, typename TMask>
RangeOfValues
ComputeMaskedRange(const TImage & image, const TMask * mask, const gpureg::ParallelFor & parallelFor)
{
  if (const auto * const voxels = FindMaskVoxels<TImage::ImageDimension>(image, mask))
  {
    return ComputeRangeWhere(
      image, [voxels](std::int64_t i) { return voxels[i] != 0; }, parallelFor);
  }
  const auto isInside = [&image, mask](std::int64_t i) {
    typename TImage::PointType point;
    image.TransformIndexToPhysicalPoint(image.ComputeIndex(i), point);
    return mask->IsInsideInWorldSpace(point);
  };
  return ComputeRangeWhere(image, isInside, parallelFor);
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
