// SPDX-License-Identifier: Apache-2.0
// Tests the poses and the rotations that the global search tries.
#include "../../src/engine/registration/global/GlobalPose.h"
#include "../../src/engine/registration/global/GlobalRotations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::PoseKind;

constexpr double Pi = 3.14159265358979323846;
constexpr double Degrees = Pi / 180;

/** Returns the angle between two rotations in radians, from 0 to π. */
double
ComputeAngle(const gpureg::Matrix3 & a, const gpureg::Matrix3 & b)
{
  return std::acos(std::clamp(0.5 * (gpureg::TraceOfProduct(a, b) - 1.0), -1.0, 1.0));
}

gpureg::PoseFrame
MakeFrame(int dimension)
{
  gpureg::PoseFrame frame;
  frame.dimension = dimension;
  frame.fixedCentre = { 10, -20, dimension == 3 ? 30.0 : 0.0 };
  frame.movingCentre = { -5, 7, dimension == 3 ? 11.0 : 0.0 };
  frame.axes = gpureg::MakeRotation({ 0, 0, 0.4 });
  frame.radius = 70;
  return frame;
}

gpureg::Pose
MakePose(int dimension)
{
  gpureg::Pose pose;
  pose.rotation = gpureg::MakeRotation({ dimension == 3 ? 0.5 : 0.0, dimension == 3 ? -1.1 : 0.0, 0.9 });
  pose.translation = { 3, -8, dimension == 3 ? 5.0 : 0.0 };
  pose.logScale = { 0.1, -0.2, dimension == 3 ? 0.05 : 0.0 };
  pose.skew = { 0.07, dimension == 3 ? -0.03 : 0.0, dimension == 3 ? 0.02 : 0.0 };
  return pose;
}
} // namespace

TEST(GlobalPose, IsFoundInItsMap)
{
  for (const int dimension : { 2, 3 })
  {
    const auto frame = MakeFrame(dimension);
    const auto pose = MakePose(dimension);
    const auto found = gpureg::ComputePose(frame, gpureg::MakePointMap(frame, pose));
    for (std::size_t i = 0; i < 9; ++i)
    {
      EXPECT_NEAR(found.rotation[i], pose.rotation[i], 1e-14);
    }
    for (std::size_t d = 0; d < 3; ++d)
    {
      EXPECT_NEAR(found.translation[d], pose.translation[d], 1e-12);
      EXPECT_NEAR(found.logScale[d], pose.logScale[d], 1e-14);
      EXPECT_NEAR(found.skew[d], pose.skew[d], 1e-14);
    }
  }
}

/** A step of 1 mm along any direction moves points at the distance of the frame's radius by 1 mm, root mean square; no two directions
 *  are the same. */
TEST(GlobalPose, StepsAreAMillimetre)
{
  const std::pair<PoseKind, std::size_t> kinds[] = { { PoseKind::Translation, 0 }, { PoseKind::TranslationAndScale, 1 },
                                                     { PoseKind::Rigid, 2 },       { PoseKind::Similarity, 3 },
                                                     { PoseKind::Scales, 4 },      { PoseKind::Affine, 5 } };
  const std::size_t                      sizes[2][6] = { { 2, 3, 3, 4, 5, 6 }, { 3, 4, 6, 7, 9, 12 } };
  for (const int dimension : { 2, 3 })
  {
    const auto frame = MakeFrame(dimension);
    for (const auto & [kind, number] : kinds)
    {
      const auto directions = gpureg::MakePoseDirections(frame, kind);
      EXPECT_EQ(directions.size(), sizes[dimension - 2][number]);
      for (std::size_t n = 0; n < directions.size(); ++n)
      {
        std::vector<double> along(directions.size(), 0.0);
        along[n] = 1e-3;
        const auto map = gpureg::MakePointMap(frame, gpureg::MovePose(gpureg::Pose(), directions, along.data()));
        const auto still = gpureg::MakePointMap(frame, gpureg::Pose());
        // The corners of a box have the same mean square along all axes.
        double    squares = 0;
        const int corners = 1 << dimension;
        for (int corner = 0; corner < corners; ++corner)
        {
          std::array<double, 3> point = frame.fixedCentre;
          for (int d = 0; d < dimension; ++d)
          {
            point[d] += (corner >> d & 1 ? 1 : -1) * frame.radius / std::sqrt(dimension);
          }
          for (int r = 0; r < 3; ++r)
          {
            double moved = map.offset[r] - still.offset[r];
            for (int c = 0; c < 3; ++c)
            {
              moved += (map.matrix[3 * r + c] - still.matrix[3 * r + c]) * point[c];
            }
            squares += moved * moved;
          }
        }
        EXPECT_NEAR(std::sqrt(squares / corners), 1e-3, 2e-6) << dimension << " dimensions, direction " << n;
      }
    }
  }
}

TEST(GlobalRotations, AreThoseOfAllAnglesWithoutDuplicates)
{
  const std::array<gpureg::AngleRange, 3> all{ { { -Pi, Pi }, { -Pi, Pi }, { -Pi, Pi } } };
  const auto                              coarse = gpureg::MakeRotations(all, 60 * Degrees);
  // Half of the 6³ triples of angles are duplicates of other rotations.
  EXPECT_EQ(coarse.size(), 108u);
  EXPECT_EQ(ComputeAngle(coarse.front(), gpureg::MakeRotation({ 0, 0, 0 })), 0.0);
  const auto fine = gpureg::MakeRotations(all, 18 * Degrees);
  // Half of the 20³ triples are duplicates; at 90 degrees about y, 20 triples are one rotation.
  EXPECT_EQ(fine.size(), 18u * 20 * 20 / 2 + 2 * 20);
  const auto nearest = gpureg::FindNearest(coarse, fine);
  ASSERT_EQ(nearest.size(), fine.size());
  for (std::size_t n = 0; n < fine.size(); ++n)
  {
    const double angle = ComputeAngle(coarse[nearest[n]], fine[n]);
    EXPECT_LT(angle, 62.8 * Degrees);
    for (const auto & other : coarse)
    {
      EXPECT_GE(ComputeAngle(other, fine[n]), angle - 1e-6);
    }
  }
  const std::array<gpureg::AngleRange, 3> some{ { { 0, 0 }, { -0.5, 0.1 }, { 0.3, 0.3 } } };
  const auto                              few = gpureg::MakeRotations(some, 0.25);
  ASSERT_EQ(few.size(), 3u);
  EXPECT_NEAR(ComputeAngle(few[0], few[2]), 0.5, 1e-12);
}

} // namespace gpuregtest
