// SPDX-License-Identifier: Apache-2.0
#ifndef WavyBall_h
#define WavyBall_h

#include "Volume.h"

#include "itkImageRegionIteratorWithIndex.h"

#include <cmath>

namespace example
{

/** Returns a ball with waves in it, on a dark background: 48 × 40 × 36 voxels of 2 × 2.5 × 2.5 mm. */
inline Volume::Pointer
MakeWavyBall()
{
  const auto          image = Volume::New();
  Volume::SpacingType spacing;
  spacing.Fill(2.5);
  spacing[0] = 2.0;
  image->SetRegions(Volume::SizeType{ { 48, 40, 36 } });
  image->SetSpacing(spacing);
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<Volume> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    Volume::PointType point;
    image->TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
    const double radius =
      std::sqrt(std::pow(point[0] - 47, 2) + std::pow(point[1] - 49, 2) + std::pow(point[2] - 44, 2));
    const double waves = std::sin(0.21 * point[0]) + std::sin(0.17 * point[1] + 1.0) + std::sin(0.19 * point[2] + 2.0);
    voxel.Set(static_cast<float>((100 + 25 * waves) / (1 + std::exp(radius - 36))));
  }
  return image;
}

} // namespace example

#endif
