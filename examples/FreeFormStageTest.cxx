// SPDX-License-Identifier: Apache-2.0
// Tests that the free-form stage alone recovers a known misalignment and deformation, with larger voxels, too.
#include "DeformedBall.h"
#include "ErrorOfRecord.h"
#include "FreeFormStage.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

namespace
{

using namespace example;

TEST(FreeFormStage, FindsAKnownDeformationOnLargerVoxelsToo)
{
  const DeformedBall problem;
  FreeFormSettings   settings;
  settings.device = itk::GPUDevice::FromName("host");
  settings.spacing = 10;
  settings.levels = 2;
  const double before = problem.GetMeanError(problem.affine);
  for (const unsigned int shrink : { 1u, 2u })
  {
    settings.shrink = shrink;
    std::ostringstream progress;
    const auto         result = RegisterFreeForm(problem.fixed, problem.moving, problem.affine, settings, progress);
    const double       error = problem.GetMeanError(result.transform);
    std::cout << "voxels " << shrink << " times as long: " << result << ", error " << error << " mm, before " << before
              << " mm\n";
    EXPECT_TRUE(gpuregtest::IsWithinRecord("host", error, shrink == 1 ? 0.295 : 0.723)); // mm
    EXPECT_GT(result.smallestDeterminant, 0.0);
    ASSERT_EQ(result.costs.size(), 2u);
    for (const auto & level : result.costs)
    {
      EXPECT_LT(level.last, level.first);
    }
  }
}

TEST(MakeCoarserGrid, ReachesOverTheImageAboutItsCentre)
{
  const auto image = MakeWavyBall();
  image->SetRegions(Volume::SizeType{ { 49, 40, 36 } });
  image->SetOrigin(image->TransformIndexToPhysicalPoint<double>({ { 3, -5, 7 } }));
  const auto grid = MakeCoarserGrid(image, 2);
  EXPECT_EQ(grid->GetLargestPossibleRegion().GetSize(), (VolumeGrid::SizeType{ { 25, 20, 18 } }));
  EXPECT_EQ(grid->GetSpacing(), image->GetSpacing() * 2.0);
  // An odd number of voxels begins at the same place, an even number between two voxels.
  const auto first = image->TransformPhysicalPointToContinuousIndex<double>(grid->GetOrigin());
  EXPECT_NEAR(first[0], 0.0, 1e-12);
  EXPECT_NEAR(first[1], 0.5, 1e-12);
  EXPECT_NEAR(first[2], 0.5, 1e-12);
}

} // namespace
