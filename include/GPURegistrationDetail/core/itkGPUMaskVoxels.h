// SPDX-License-Identifier: Apache-2.0
// Finds the voxels of an image inside a mask without evaluating the mask at each voxel's point.
#ifndef itkGPUMaskVoxels_h
#define itkGPUMaskVoxels_h

#include "GPURegistrationDetail/core/itkGPUIsExactly.h"
#include "GPURegistrationDetail/core/itkGPURegistrationGeometry.h"

#include "itkImageMaskSpatialObject.h"

#include <type_traits>

namespace itk
{
namespace GPURegistrationDetail
{

/** Returns true if a mask uses only voxels of one value, or another image than its own: choices that ITK 5.4 introduced. */
template <typename TMask>
auto
HasChoiceOfVoxels(const TMask & mask, int) -> std::decay_t<decltype(mask.GetUseMaskValue())>
{
  return mask.GetUseMaskValue() || mask.GetBufferedRegion() != mask.GetImage()->GetBufferedRegion();
}
template <typename TMask>
bool
HasChoiceOfVoxels(const TMask &, long)
{
  return false;
}

/** Returns the mask if it is an image in which every value but 0 is inside; else null. A derived class may behave differently. */
template <unsigned int VDimension>
const ImageMaskSpatialObject<VDimension> *
FindPlainMask(const SpatialObject<VDimension> * mask)
{
  using MaskType = ImageMaskSpatialObject<VDimension>;
  if (!IsExactly<MaskType>(mask))
  {
    return nullptr;
  }
  const auto * const imageMask = static_cast<const MaskType *>(mask);
  return HasChoiceOfVoxels(*imageMask, 0) ? nullptr : imageMask;
}

/** Returns a mask's voxels if they coincide with an image's voxels: voxel n of the image is inside unless voxel n of the mask is 0.
 *  Returns null if the mask must be evaluated at each point. */
template <unsigned int VDimension>
const unsigned char *
FindMaskVoxels(const ImageBase<VDimension> & image, const SpatialObject<VDimension> * mask)
{
  namespace Geometry = GPURegistrationGeometry;
  const auto * const plain = FindPlainMask(mask);
  if (plain == nullptr)
  {
    return nullptr;
  }
  const auto & maskImage = *plain->GetImage();
  const auto   size = image.GetBufferedRegion().GetSize();
  if (maskImage.GetBufferedRegion().GetSize() != size)
  {
    return nullptr;
  }
  const gpureg::IndexMap toMask = Geometry::FitIndexMap<VDimension>(image, [&](const Geometry::IndexArray & index) {
    return Geometry::PointToIndex<VDimension>(maskImage,
                                              plain->GetObjectToWorldTransformInverse()->TransformPoint(
                                                Geometry::IndexToPoint(image, index)));
  });
  // The mask takes the nearest voxel, which is the image's own voxel, however the mask rounds.
  constexpr double farthest = 0.01;
  return Geometry::ComputeLargestShift(toMask, size) < farthest ? maskImage.GetBufferPointer() : nullptr;
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
