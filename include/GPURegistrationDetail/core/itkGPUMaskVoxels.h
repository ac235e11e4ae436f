// SPDX-License-Identifier: Apache-2.0
// What of an image lies in a mask, without asking the mask for each voxel's point.
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

/** Whether only voxels of one value are inside, or the mask takes its image's buffer for another one: which ITK 5.4 has brought. */
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

/** The mask, if it is an image of which all that is not 0 is inside; else null. A class derived from it may do otherwise. */
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

/** A mask's voxels, if they are an image's: each tells of the image's voxel of the same number whether it is inside, which it is unless
 *  it is 0. Else null: then the mask is to be asked for each point. */
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
  // The mask looks for the nearest voxel: however it rounds, that is this one.
  constexpr double farthest = 0.01;
  return Geometry::FindLargestShift(toMask, size) < farthest ? maskImage.GetBufferPointer() : nullptr;
}

} // namespace GPURegistrationDetail
} // namespace itk

#endif
