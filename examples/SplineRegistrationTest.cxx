// SPDX-License-Identifier: Apache-2.0
// Tests that free-form deformation with ITK's own classes and our metric recovers a known deformation, on every device.
#include "DeformationError.h"
#include "ErrorOfRecord.h"
#include "KnownDeformation.h"
#include "SplineRegistration.h"
#include "WavyBall.h"

#include <gtest/gtest.h>

#include <iostream>

namespace
{

using namespace example;

TEST(SplineRegistration, FindsAKnownDeformation)
{
  const auto moving = MakeWavyBall();
  const auto known = MakeKnownDeformation(moving, DeformationKind::BSpline, 11, 3.0, 8.0);
  const auto pair = MakeDeformedPair(moving, known.transform);
  const auto threshold = ComputeHeadThreshold(pair.fixed);
  const auto identity = SplineTransform::New();
  const auto before = MeasureDeformationError(identity, pair.truth, pair.fixed, threshold);
  for (const auto & device : itk::GPUDevice::GetAvailable())
  {
    SCOPED_TRACE(device.GetName());
    SplineSettings settings;
    settings.device = device;
    settings.levels = 2;
    settings.spacing = 25;
    settings.iterations = 20;
    const auto spline = RegisterBySpline(pair.fixed, pair.moving, settings);
    const auto after = MeasureDeformationError(spline, pair.truth, pair.fixed, threshold);
    std::cout << device.GetName() << ": in the ball " << before.head << " before, " << after.head << " after\n";
    EXPECT_TRUE(gpuregtest::IsWithinRecord(device.GetName(), after.head.mean, { 0.103, 0.0926 })); // mm
    // Four cells along each axis of 90 to 100 mm, and three more control points.
    EXPECT_EQ(spline->GetNumberOfParameters(), 3u * 7 * 7 * 7);
  }
}

} // namespace
