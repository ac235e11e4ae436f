// SPDX-License-Identifier: Apache-2.0
#ifndef VoxelMask_h
#define VoxelMask_h

#include "itkImageMaskSpatialObject.h"
#include "itkImageRegionIteratorWithIndex.h"

namespace gpuregtest
{

/** Returns a mask of an image's voxels whose points are inside. */
template <typename TImage, typename TIsInside>
auto
MakeMask(const TImage & image, const TIsInside & isInside)
{
  using MaskType = itk::ImageMaskSpatialObject<TImage::ImageDimension>;
  const auto voxels = MaskType::ImageType::New();
  voxels->CopyInformation(&image);
  voxels->SetRegions(image.GetBufferedRegion());
  voxels->Allocate();
  for (itk::ImageRegionIteratorWithIndex<typename MaskType::ImageType> it(voxels, voxels->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    typename TImage::PointType point;
    voxels->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    it.Set(isInside(point));
  }
  const auto mask = MaskType::New();
  mask->SetImage(voxels);
  mask->Update();
  return mask;
}

} // namespace gpuregtest

#endif
