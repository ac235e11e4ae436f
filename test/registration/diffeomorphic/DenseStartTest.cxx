// SPDX-License-Identifier: Apache-2.0
// The greedy scheme and the velocity from initial transforms that are not linear, on every device.
#include "DenseCase.h"
#include "ErrorOfRecord.h"
#include "KnownDeformation.h"
#include "TestDevices.h"

#include "gpureg/core/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::DiffeomorphicScheme;

gpureg::DiffeomorphicSettings
MakeSettings(DiffeomorphicScheme scheme)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = scheme;
  settings.iterations = { 40, 40 };
  settings.step = 0.25;
  return settings;
}

/** Moves a point by a share of its displacement between a pair's images. share: from 0 to 1 */
Point
MovePartly(const Pair & pair, const Point & p, double share)
{
  const Point whole = pair.Move(p);
  return { p[0] + share * (whole[0] - p[0]), p[1] + share * (whole[1] - p[1]), p[2] + share * (whole[2] - p[2]) };
}

Floats
Register(const std::string & device, const gpureg::DiffeomorphicProblem & problem, DiffeomorphicScheme scheme)
{
  gpureg::DiffeomorphicRegistration registration(device);
  const auto                        result = registration.Register(problem, MakeSettings(scheme), OnThreads(2));
  EXPECT_EQ(result.foldedVoxels, 0);
  return TakeField(registration, result.levels.back().voxels);
}

/** Returns the field of a deformation and, behind it, of a start that is known at any point. */
template <typename TMove>
Floats
Follow(const VoxelGrid & grid, const Floats & field, const TMove & move)
{
  Floats whole = field;
  for (std::size_t v = 0; v < field.size(); v += 3)
  {
    const Point p = grid.GetPoint(static_cast<std::int64_t>(v / 3));
    const Point q = move(Point{ p[0] + field[v], p[1] + field[v + 1], p[2] + field[v + 2] });
    for (std::size_t c = 0; c < 3; ++c)
    {
      whole[v + c] = static_cast<float>(q[c] - p[c]);
    }
  }
  return whole;
}

class DenseStartTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(DenseStartTest, FindsTheRestOfADeformation)
{
  // By scheme, greedy and velocity; dimension, 2 and 3; and share, a half and the whole. The third one is 0.0886, of which the older bound,
  // 0.13, is less than 1.5 times.
  const double records[2][2][2] = { { { 0.0572, 0.0559 }, { 0.0866, 0.0853 } },
                                    { { 0.0284, 0.0304 }, { 0.0763, 0.0387 } } };
  for (const int dimension : { 2, 3 })
  {
    for (const double share : { 0.5, 1.0 })
    {
      Pair       pair(GetParam(), dimension, 1.0);
      const auto start = [&pair, share](const Point & p) { return MovePartly(pair, p, share); };
      auto       problem = pair.Load();
      problem.initial.Append(SampleDisplacements(pair.grid, start));
      const Floats nothing(3 * pair.fixed.size());
      const double before = pair.ComputeError(Follow(pair.grid, nothing, start));
      EXPECT_NEAR(before, (1 - share) * pair.ComputeError(nothing), 5.1e-8);
      for (const auto scheme : { DiffeomorphicScheme::Greedy, DiffeomorphicScheme::Velocity })
      {
        const Floats field = Register(GetParam(), problem, scheme);
        const double after = pair.ComputeError(Follow(pair.grid, field, start));
        const double record = records[scheme == DiffeomorphicScheme::Velocity][dimension - 2][share == 1.0];
        EXPECT_TRUE(IsWithinRecord(GetParam(), after, record))
          << GetName(scheme) << ", " << dimension << "D, " << share;
      }
    }
  }
}

TEST_P(DenseStartTest, IsThatOfALinearMap)
{
  for (const auto scheme : { DiffeomorphicScheme::Greedy, DiffeomorphicScheme::Velocity })
  {
    for (const auto kind : { gpureg::SimilarityKind::NeighborhoodCorrelation, gpureg::SimilarityKind::MeanSquares })
    {
      Pair             pair(GetParam(), 3, 1.0);
      const Point      centre = pair.grid.GetPoint(gpureg::CountOf(pair.grid.size) / 2);
      gpureg::IndexMap linear;
      linear.matrix = { 1.03, -0.04, 0, 0.04, 0.98, 0.02, 0, 0, 1 };
      for (std::size_t r = 0; r < 3; ++r)
      {
        linear.offset[r] = centre[r] + 0.2;
        for (std::size_t c = 0; c < 3; ++c)
        {
          linear.offset[r] -= linear.matrix[3 * r + c] * centre[c];
        }
      }
      const auto move = [linear](const Point & p) {
        Point q = linear.offset;
        for (std::size_t k = 0; k < 9; ++k)
        {
          q[k / 3] += linear.matrix[k] * p[k % 3];
        }
        return q;
      };
      auto problem = pair.Load();
      problem.initial.Append(linear);
      auto settings = MakeSettings(scheme);
      settings.iterations = { 4, 3 };
      settings.similarity.kind = kind;
      gpureg::DiffeomorphicRegistration registration(GetParam());
      const auto                        find = [&] {
        registration.Register(problem, settings, OnThreads(2));
        return TakeField(registration, registration.CountVoxels());
      };
      const Floats expected = find();
      // Begins with the same map as a field, and as a field behind a linear map.
      // By NVIDIA's OpenCL, whose compiler rounds in another way, one of the four fields is 1.4e-3 mm off at a voxel (H200, 2026-11-29).
      const ErrorOfRecord usual(5.7e-7, 5.1e-7);
      const ErrorOfRecord record = scheme == DiffeomorphicScheme::Greedy ? usual.WithOpenCLOnGPU(1.43e-3) : usual;
      problem.initial = {};
      problem.initial.Append(SampleDisplacements(pair.grid, move));
      EXPECT_TRUE(IsWithinRecord(GetParam(), ComputeLargestDifference(find(), expected), record))
        << GetName(scheme) << ", " << gpureg::GetName(kind);
      gpureg::IndexMap shift;
      shift.offset = { 0.7, -0.4, 0.5 };
      const auto unshifted = [move, shift](const Point & p) {
        return move(Point{ p[0] - shift.offset[0], p[1] - shift.offset[1], p[2] - shift.offset[2] });
      };
      problem.initial = {};
      problem.initial.Append(shift);
      problem.initial.Append(SampleDisplacements(pair.grid, unshifted));
      EXPECT_TRUE(IsWithinRecord(GetParam(), ComputeLargestDifference(find(), expected), record))
        << GetName(scheme) << ", " << gpureg::GetName(kind);
    }
  }
}

TEST_P(DenseStartTest, MovesTheFixedImageOfAVelocity)
{
  // Both images are exchanged: that which is fixed now is the moving one where the start leads.
  Pair       pair(GetParam(), 3, 1.0);
  auto       problem = pair.Load();
  const auto start = [&pair](const Point & p) { return pair.Move(p); };
  std::swap(problem.fixed, problem.moving);
  problem.fixedInitial.dimension = 3;
  problem.fixedInitial.Append(SampleDisplacements(pair.grid, start));
  const Floats field = Register(GetParam(), problem, DiffeomorphicScheme::Velocity);
  EXPECT_TRUE(IsWithinRecord(GetParam(), pair.ComputeError(Follow(pair.grid, field, start)), 0.0385));
}

TEST_P(DenseStartTest, IsTheSameOnEachDeviceAndForAnyNumberOfThreads)
{
  for (const auto scheme : { DiffeomorphicScheme::Greedy, DiffeomorphicScheme::Velocity })
  {
    const auto find = [scheme](const std::string & device, std::int64_t threads) {
      Pair pair(device, 3, 1.0);
      auto problem = pair.Load();
      problem.initial.Append(
        SampleDisplacements(pair.grid, [&pair](const Point & p) { return MovePartly(pair, p, 0.6); }));
      auto settings = MakeSettings(scheme);
      settings.iterations = { 6, 4 };
      gpureg::DiffeomorphicRegistration registration(device);
      registration.Register(problem, settings, OnThreads(threads));
      return TakeField(registration, registration.CountVoxels());
    };
    const Floats one = find(GetParam(), 1);
    EXPECT_EQ(one, find(GetParam(), 3));
    const ErrorOfRecord record(0, scheme == DiffeomorphicScheme::Greedy ? 7.9e-6 : 5.7e-7);
    EXPECT_TRUE(IsWithinRecord(GetParam(), ComputeLargestDifference(one, find("host", 2)), record)) << GetName(scheme);
  }
}

TEST_P(DenseStartTest, SaysWhatIsWrongAndGoesOn)
{
  Pair                              pair(GetParam(), 2, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        field = SampleDisplacements(pair.grid, [](const Point & p) { return p; });
  auto                              problem = pair.Load();
  problem.fixedInitial.Append(field);
  EXPECT_THROW(registration.Register(problem, MakeSettings(DiffeomorphicScheme::Greedy), OnThreads(2)),
               gpureg::UnsupportedError);
  // Displacements at an output's voxels define no displacements at other points.
  problem = pair.Load();
  problem.initial.Append(field);
  problem.initial.steps.front().grid.kind = gpureg::GridKind::OfOutput;
  for (const auto scheme : { DiffeomorphicScheme::Greedy, DiffeomorphicScheme::SyN, DiffeomorphicScheme::Velocity })
  {
    auto settings = MakeSettings(scheme);
    EXPECT_THROW(registration.Register(problem, settings, OnThreads(2)), gpureg::UnsupportedError);
    // A field that leads out of the moving image.
    auto far = pair.Load();
    far.initial.Append(SampleDisplacements(pair.grid, [](const Point & p) { return Point{ p[0] + 1e5, p[1], p[2] }; }));
    EXPECT_THROW(registration.Register(far, settings, OnThreads(2)), gpureg::BadInputError);
    registration.Register(pair.Load(), settings, OnThreads(2));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DenseStartTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
