// SPDX-License-Identifier: Apache-2.0
// Registers images greedily on several devices together, by each similarity and by several pairs, and compares the deformation with that of
// one device.
#include "TeamCase.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::SimilarityKind;

// Voxels. A histogram's unit is finer for fewer samples.
constexpr double Tolerance = 1e-4;

/** Returns the similarities of samples whose forces fields take. */
std::vector<SimilarityKind>
ListSimilarities()
{
  std::vector<SimilarityKind> kinds;
  for (const gpureg::SimilarityDescription & one : gpureg::Similarities)
  {
    if (one.isForFields && !one.HasNeighborhoods())
    {
      kinds.push_back(one.kind);
    }
  }
  return kinds;
}

gpureg::DiffeomorphicSettings
MakeSettings(SimilarityKind kind)
{
  auto settings = MakeTeamSettings();
  settings.similarity = { kind, gpureg::Describe(kind).HasBins() ? 24 : 0, 2 };
  return settings;
}

class TeamSimilaritiesTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(TeamSimilaritiesTest, ComputeTheDeformationOfOneDevice)
{
  const VoxelGrid grid = MakeLongGrid();
  for (const SimilarityKind kind : ListSimilarities())
  {
    const auto                        settings = MakeSettings(kind);
    gpureg::DiffeomorphicRegistration alone(GetParam());
    Pair                              pair(GetParam(), grid, 1.0);
    const auto                        result = alone.Register(pair.Load(), settings, OnThreads(2));
    const Floats                      field = TakeField(alone, alone.CountVoxels());
    ASSERT_GT(ComputeLargest(field), 0.5) << kind;
    for (const std::size_t devices : { 2U, 3U })
    {
      Team team(std::vector<std::string>(devices, GetParam()), grid);
      EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, field), Tolerance) << kind << ", " << devices;
      ASSERT_EQ(team.result.levels.size(), result.levels.size());
      for (std::size_t level = 0; level < result.levels.size(); ++level)
      {
        EXPECT_LT(ComputeLargestDifference(ToFloats(team.result.levels[level].costs),
                                           ToFloats(result.levels[level].costs)),
                  1e-5)
          << kind << ", " << devices << " devices, level " << level;
      }
    }
  }
}

TEST_P(TeamSimilaritiesTest, TakeMasksNarrowImagesAndTransforms)
{
  const VoxelGrid    grid = MakeLongGrid(203);
  const StoredImages images(GetParam(), grid);
  const auto prepare = [&images](const gpureg::DiffeomorphicProblem & problem) { return images.Prepare(problem); };
  for (const SimilarityKind kind : ListSimilarities())
  {
    auto settings = MakeSettings(kind);
    settings.optimizer = gpureg::DiffeomorphicOptimizer::Adam;
    settings.updateSigma = 2.5;
    Pair              pair(GetParam(), grid, 1.0);
    const DenseResult whole = RegisterDense(GetParam(), prepare(pair.Load()), settings);
    ASSERT_GT(ComputeLargest(whole.field), 0.2) << kind;
    Team team({ GetParam(), GetParam() }, grid, prepare);
    EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), Tolerance) << kind;
  }
}

TEST_P(TeamSimilaritiesTest, BeginWithADeformation)
{
  const VoxelGrid   grid = MakeLongGrid();
  Pair              pair(GetParam(), grid, 1.0);
  const auto        prepare = BeginHalfWay(pair, grid);
  const auto        settings = MakeSettings(SimilarityKind::MattesMutualInformation);
  const DenseResult whole = RegisterDense(GetParam(), prepare(pair.Load()), settings);
  Team              team({ GetParam(), GetParam(), GetParam() }, grid, prepare);
  EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), Tolerance);
}

TEST_P(TeamSimilaritiesTest, LeaveADeviceWithoutSamples)
{
  // The mask ends before the second device's planes, which begin at 80.
  const VoxelGrid grid = MakeLongGrid();
  Floats          values(static_cast<std::size_t>(gpureg::CountOf(grid.size)), 0.0F);
  std::fill_n(values.begin(), grid.size[0] * grid.size[1] * 78, 1.0F);
  gpureg::LoadedImage mask(GetParam());
  mask.Load({}, gpureg::Precision::Single, values.data(), gpureg::CountOf(grid.size), OnThreads(2));
  const auto prepare = [&mask](gpureg::DiffeomorphicProblem problem) {
    problem.fixed.mask = &mask;
    return problem;
  };
  for (const SimilarityKind kind : ListSimilarities())
  {
    Pair              pair(GetParam(), grid, 1.0);
    const auto        settings = MakeSettings(kind);
    const DenseResult whole = RegisterDense(GetParam(), prepare(pair.Load()), settings);
    Team              team({ GetParam(), GetParam() }, grid, prepare);
    EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), Tolerance) << kind;
  }
}

TEST_P(TeamSimilaritiesTest, CompareSeveralPairs)
{
  const VoxelGrid grid = MakeLongGrid(170);
  // The second pair's neighborhoods are the largest, so that the halo has two blocks of planes.
  const auto prepare = [](gpureg::DiffeomorphicProblem problem) {
    const auto add = [&problem](SimilarityKind kind, int radius, double weight) {
      problem.further.push_back({ problem.fixed, problem.moving, { kind, 24, radius }, weight, {}, {} });
    };
    add(SimilarityKind::NeighborhoodCorrelation, 4, 0.7);
    add(SimilarityKind::NormalizedMutualInformation, 2, 0.5);
    return problem;
  };
  auto settings = MakeSettings(SimilarityKind::MeanSquares);
  settings.iterations = { 8, 12, 8 };
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), prepare(pair.Load()), settings);
  ASSERT_GT(ComputeLargest(whole.field), 0.5);
  for (const std::size_t devices : { 2U, 3U })
  {
    Team              team(std::vector<std::string>(devices, GetParam()), grid, prepare);
    const DenseResult together = team.Register(settings);
    EXPECT_LT(ComputeLargestDifference(together.field, whole.field), Tolerance) << devices;
    EXPECT_LT(ComputeLargestDifference(ToFloats(together.costs), ToFloats(whole.costs)), 1e-5) << devices;
  }
}

TEST_P(TeamSimilaritiesTest, JoinOtherDevices)
{
  const VoxelGrid grid = MakeLongGrid();
  for (const SimilarityKind kind : ListSimilarities())
  {
    auto              settings = MakeSettings(kind);
    Pair              pair(GetParam(), grid, 1.0);
    const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
    Pair              pairOfHost("host", grid, 1.0);
    const DenseResult onHost = RegisterDense("host", pairOfHost.Load(), settings);
    Team              team({ GetParam(), "host", GetParam() }, grid);
    // Forces of demons jump where values differ by a least difference: there the devices' roundings decide.
    const double apart = ComputeLargestDifference(whole.field, onHost.field);
    RecordProperty(GetName(kind), std::to_string(apart));
    EXPECT_LT(apart, kind == SimilarityKind::Demons ? 0.1 : 1e-3) << kind;
    EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), 1e-3 + apart) << kind;
    // All devices end a level after the same iteration.
    settings.convergenceWindow = 3;
    settings.convergenceThreshold = 0.02;
    team.Register(settings);
    EXPECT_LT(team.result.levels.front().costs.size(), 8U) << kind;
  }
}

TEST_P(TeamSimilaritiesTest, PlanLessForEachDevice)
{
  const VoxelGrid grid = MakeLongGrid(300);
  for (const SimilarityKind kind : { SimilarityKind::MeanSquares, SimilarityKind::MattesMutualInformation })
  {
    const auto   settings = MakeSettings(kind);
    const double whole = PlanAlone(GetParam(), grid, settings);
    Team         team({ GetParam(), GetParam() }, grid);
    for (const gpureg::MemoryPlan & plan : CheckPlans(GetParam(), team, settings))
    {
      EXPECT_LT(static_cast<double>(plan.bytes - plan.images), 0.75 * whole);
    }
  }
}

TEST_P(TeamSimilaritiesTest, SayThatImagesDoNotOverlap)
{
  const auto prepare = [](gpureg::DiffeomorphicProblem problem) {
    gpureg::IndexMap away;
    away.offset = { 1000, 0, 0 };
    problem.initial.Append(away);
    return problem;
  };
  for (const SimilarityKind kind : ListSimilarities())
  {
    Team team({ GetParam(), GetParam() }, MakeLongGrid(), prepare);
    try
    {
      team.Register(MakeSettings(kind));
      ADD_FAILURE() << "no error by " << kind;
    }
    catch (const gpureg::BadInputError & error)
    {
      EXPECT_NE(std::string(error.what()).find("transform that brings them together"), std::string::npos)
        << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TeamSimilaritiesTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
