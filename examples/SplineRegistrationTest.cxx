// SPDX-License-Identifier: Apache-2.0
// Free-form deformation by ITK's own classes with the metric swapped finds a deformation that is known, on every device.
#include "DeformationError.h"
#include "KnownDeformation.h"
#include "SplineRegistration.h"

#include "itkImageRegionIteratorWithIndex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

namespace
{

using namespace example;

/** A ball with waves in it, in the dark: 48 × 40 × 36 voxels of 2 × 2.5 × 2.5 mm. */
Volume::Pointer
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

TEST(SplineRegistration, FindsAKnownDeformation)
{
  const auto moving = MakeWavyBall();
  const auto known = MakeKnownDeformation(moving, DeformationKind::BSpline, 11, 3.0, 8.0);
  const auto pair = MakeDeformedPair(moving, known.transform);
  const auto threshold = FindHeadThreshold(pair.fixed);
  const auto identity = SplineTransform::New();
  const auto before = MeasureDeformationError(identity, pair.truth, pair.fixed, threshold);
  for (const auto & device : itk::GPUDevice::GetAvailable())
  {
    SCOPED_TRACE(device.GetName());
    SplineSettings settings;
    settings.device = device;
    settings.levels = 2;
    settings.spacing = 20;
    settings.iterations = 20;
    const auto spline = RegisterBySpline(pair.fixed, pair.moving, settings);
    const auto after = MeasureDeformationError(spline, pair.truth, pair.fixed, threshold);
    std::cout << device.GetName() << ": in the ball " << before.head << " before, " << after.head << " after\n";
    EXPECT_LT(after.head.mean, 0.15 * before.head.mean);
    // Five cells along each axis of 90 to 100 mm, and three control points more.
    EXPECT_EQ(spline->GetNumberOfParameters(), 3u * 8 * 8 * 8);
  }
}

} // namespace
