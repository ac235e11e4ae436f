// SPDX-License-Identifier: Apache-2.0
// Tests the derivative of each cost of a level by differences of the cost, on every device.
#include "engine/registration/global/GlobalPairLevel.h"

#include "PairImages.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "engine/metric/SimilarityChoices.h"
#include "engine/runtime/Backend.h"
#include "engine/runtime/MakePasses.h"
#include "engine/runtime/Operation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gpuregtest
{

namespace
{
using GlobalPairLevelTest = DeviceTest;

/** Returns a smooth value that varies along all axes. */
double
ComputeValue(double x, double y, double z)
{
  return std::sin(0.31 * x + 0.1 * y) + std::cos(0.27 * y - 0.12 * z) + std::sin(0.23 * z + 0.4);
}
} // namespace

TEST_P(GlobalPairLevelTest, SlopesAreDifferencesOfCosts)
{
  PairImages images(GetParam(), 3);
  // Voxels differ along the axes, and between both images. No sample leaves the moving image.
  auto fixed =
    images.Load([](const auto & index) { return ComputeValue(0.7 * index[0], 0.6 * index[1], 0.8 * index[2]); });
  fixed.indexToPoint.matrix = { 0.7, 0, 0, 0, 0.6, 0, 0, 0, 0.8 };
  auto moving =
    images.Load([](const auto & index) { return ComputeValue(1.1 * index[0] - 5, index[1] - 5, 1.2 * index[2] - 5); });
  moving.indexToPoint.matrix = { 1.1, 0, 0, 0, 1, 0, 0, 0, 1.2 };
  moving.indexToPoint.offset = { -5, -5, -5 };
  const auto              backend = gpureg::GetBackend(GetParam());
  const auto              queue = backend->CreateQueue();
  const auto              lines = gpureg::MakePasses<gpureg::LinePasses>(*queue);
  gpureg::GlobalPairLevel level(GetParam(), *queue);
  gpureg::PoseFrame       frame;
  frame.fixedCentre = frame.movingCentre = { 9, 7, 9 };
  frame.radius = 8;
  const gpureg::PoseDirections directions = gpureg::MakePoseDirections(frame, gpureg::PoseKind::Affine);
  const std::vector<double>    along{ 0.6, -0.4, 0.5, 0.3, -0.2, 0.4, 0.1, 0.2, -0.3, 0.2, -0.1, 0.15 };
  gpureg::Operate(*queue, OnThreads(2), [&] { level.MakeImages({ *queue, *lines }, fixed, moving, 3, 1); });
  for (const gpureg::SimilarityDescription & one : gpureg::Similarities)
  {
    if (!one.isForGlobal)
    {
      continue;
    }
    SCOPED_TRACE(one.name);
    for (const bool isOfSeveral : { false, true })
    {
      level.SetCost({ one.kind, one.bins.usual > 0 ? 32 : 0, 3 }, false);
      gpureg::PairShare share;
      share.isOfSeveral = isOfSeveral;
      share.unrelated = std::isnan(one.unrelatedCost) ? 0.3 : one.unrelatedCost;
      level.Begin(share, 1, OnThreads(2));
      const auto slope = level.ComputeSlope(frame, {}, directions, along, OnThreads(2));
      ASSERT_EQ(slope.slope.size(), directions.size());
      double apart = 0;
      double largest = 0;
      for (std::size_t n = 0; n < directions.size(); ++n)
      {
        constexpr double          step = 0.02;
        std::vector<gpureg::Pose> poses;
        for (const double side : { -step, step })
        {
          std::vector<double> moved = along;
          moved[n] += side;
          poses.push_back(gpureg::MovePose({}, directions, moved.data()));
        }
        const auto   costs = level.ComputeCosts(frame, poses, OnThreads(2));
        const double difference = (costs[1].cost - costs[0].cost) / (2 * step);
        apart = std::max(apart, std::abs(slope.slope[n] - difference));
        largest = std::max(largest, std::abs(difference));
      }
      EXPECT_GT(largest, 1e-3);
      // By linear interpolation a cost is smooth almost everywhere.
      EXPECT_LT(apart, 0.02 * largest);
      EXPECT_NEAR(level.ComputeCosts(frame, { slope.pose }, OnThreads(2)).front().cost, slope.cost, 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, GlobalPairLevelTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
