// SPDX-License-Identifier: Apache-2.0
#ifndef itkGPUShrinkGeometry_h
#define itkGPUShrinkGeometry_h

#include "itkImageBase.h"

#include <algorithm>

namespace itk
{
/** Describes which pixels itk::ShrinkImageFilter samples. */
namespace GPUShrinkGeometry
{

/** Returns the offset for which pixel i of the output is pixel i·factor + offset of the input. The rule is that of
 * itk::ShrinkImageFilter::DynamicThreadedGenerateData, which uses the two images' geometry, with its rounding. */
template <unsigned int VDimension, typename TFactors>
Offset<VDimension>
ComputeOffset(const ImageBase<VDimension> & input, const ImageBase<VDimension> & output, const TFactors & factors)
{
  const auto                                first = output.GetLargestPossibleRegion().GetIndex();
  typename ImageBase<VDimension>::PointType point;
  output.TransformIndexToPhysicalPoint(first, point);
  const auto         there = input.TransformPhysicalPointToIndex(point);
  Offset<VDimension> offset;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    offset[d] = std::max<OffsetValueType>(0, there[d] - first[d] * static_cast<OffsetValueType>(factors[d]));
  }
  return offset;
}

} // namespace GPUShrinkGeometry
} // namespace itk

#endif
