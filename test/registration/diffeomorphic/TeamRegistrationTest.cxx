// SPDX-License-Identifier: Apache-2.0
// Registers images on several devices together, greedily, and compares the deformation with that of one device.
#include "TeamCase.h"

#include "gpureg/core/Error.h"
#include "gpureg/runtime/Device.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpuregtest
{

namespace
{
class TeamRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(TeamRegistrationTest, ComputesTheDeformationOfOneDevice)
{
  const VoxelGrid grid = MakeLongGrid();
  for (const auto optimizer : { gpureg::DiffeomorphicOptimizer::LongestVector, gpureg::DiffeomorphicOptimizer::Adam })
  {
    auto settings = MakeTeamSettings();
    settings.optimizer = optimizer;
    gpureg::DiffeomorphicRegistration alone(GetParam());
    Pair                              pair(GetParam(), grid, 1.0);
    const auto                        result = alone.Register(pair.Load(), settings, OnThreads(2));
    const Floats                      field = TakeField(alone, alone.CountVoxels());
    ASSERT_GT(ComputeLargest(field), 0.5);
    for (const std::size_t devices : { 1U, 2U, 3U, 4U })
    {
      if (devices == 4 && TakesNoFourQueues(GetParam()))
      {
        continue;
      }
      Team team(std::vector<std::string>(devices, GetParam()), grid);
      EXPECT_EQ(team.Register(settings).field, field) << devices << " devices, " << optimizer;
      // Engines free for a kept field what they registered by, and register again.
      EXPECT_EQ(team.TakeKeptField(), field) << devices << " devices, " << optimizer;
      EXPECT_EQ(team.Register(settings).field, field) << devices << " devices, " << optimizer;
      EXPECT_EQ(team.TakeKeptField(), field) << devices << " devices, " << optimizer;
      EXPECT_EQ(team.result.smallestDeterminant, result.smallestDeterminant);
      EXPECT_EQ(team.result.foldedVoxels, result.foldedVoxels);
      EXPECT_NEAR(team.result.logDeterminantDeviation, result.logDeterminantDeviation, 1e-6);
      ASSERT_EQ(team.result.levels.size(), result.levels.size());
      for (std::size_t level = 0; level < result.levels.size(); ++level)
      {
        EXPECT_EQ(team.result.levels[level].voxels, result.levels[level].voxels);
        EXPECT_LT(ComputeLargestDifference(ToFloats(team.result.levels[level].costs),
                                           ToFloats(result.levels[level].costs)),
                  1e-6);
      }
    }
  }
}

TEST_P(TeamRegistrationTest, CarriesFieldsBetweenSlabsThatDiffer)
{
  // Levels of 40, 80 and 160 planes, whose seams lie at 48 and 80; and levels of 75, 112 and 225 planes, with three and two planes to one.
  const auto makeGrid = [](double alongZ, int planes) {
    VoxelGrid grid = MakeLongGrid(planes);
    grid.toPoint.matrix[4] *= 0.8;
    grid.toPoint.matrix[1] *= 0.8;
    grid.toPoint.matrix[8] = alongZ;
    return grid;
  };
  for (const VoxelGrid & grid : { makeGrid(1.0, 160), makeGrid(1.25, 225) })
  {
    for (const auto optimizer : { gpureg::DiffeomorphicOptimizer::LongestVector, gpureg::DiffeomorphicOptimizer::Adam })
    {
      auto settings = MakeTeamSettings();
      settings.optimizer = optimizer;
      Pair              pair(GetParam(), grid, 1.0);
      const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
      for (const std::size_t devices : { 2U, 3U })
      {
        Team team(std::vector<std::string>(devices, GetParam()), grid);
        EXPECT_EQ(team.Register(settings).field, whole.field) << grid.size[2] << " planes, " << devices << " devices";
      }
    }
  }
}

TEST_P(TeamRegistrationTest, TakesMasksNarrowImagesAndWeights)
{
  // The halo has two blocks of planes, an axis is held, and costs end the levels.
  const VoxelGrid grid = MakeLongGrid(203);
  auto            settings = MakeTeamSettings();
  settings.similarity.radius = 3;
  settings.updateSigma = 2.5;
  settings.fieldSigma = 0.9;
  settings.weights = { 1, 0, 1 };
  settings.convergenceWindow = 4;
  settings.convergenceThreshold = 0.01;
  settings.iterations = { 8, 12, 30 };
  const StoredImages images(GetParam(), grid);
  Pair               pair(GetParam(), grid, 1.0);
  const DenseResult  whole = RegisterDense(GetParam(), images.Prepare(pair.Load()), settings);
  ASSERT_GT(ComputeLargest(whole.field), 0.2);
  ASSERT_LT(whole.costs.size(), static_cast<std::size_t>(settings.iterations.back()));
  Team team({ GetParam(), GetParam() }, grid);
  for (gpureg::DiffeomorphicProblem & problem : team.problems)
  {
    problem = images.Prepare(problem);
  }
  EXPECT_EQ(team.Register(settings).field, whole.field);
}

TEST_P(TeamRegistrationTest, BeginsWithADeformation)
{
  const VoxelGrid   grid = MakeLongGrid();
  Pair              pair(GetParam(), grid, 1.0);
  const auto        prepare = BeginHalfWay(pair, grid);
  const DenseResult whole = RegisterDense(GetParam(), prepare(pair.Load()), MakeTeamSettings());
  Team              team({ GetParam(), GetParam(), GetParam() }, grid, prepare);
  EXPECT_LT(ComputeLargestDifference(team.Register(MakeTeamSettings()).field, whole.field), 1e-5);
}

TEST_P(TeamRegistrationTest, JoinsOtherDevices)
{
  const VoxelGrid   grid = MakeLongGrid();
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), MakeTeamSettings());
  Team              team({ GetParam(), "host", GetParam() }, grid);
  EXPECT_LT(ComputeLargestDifference(team.Register(MakeTeamSettings()).field, whole.field), 1e-4);
  // All devices end a level after the same iteration.
  auto settings = MakeTeamSettings();
  settings.convergenceWindow = 3;
  settings.convergenceThreshold = 0.02;
  team.Register(settings);
  EXPECT_LT(team.result.levels.front().costs.size(), 8U);
}

TEST_P(TeamRegistrationTest, ComputesSmallImagesAsAWhole)
{
  const VoxelGrid   grid = MakeLongGrid(50);
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), MakeTeamSettings());
  Team              team({ GetParam(), GetParam() }, grid);
  EXPECT_EQ(team.Register(MakeTeamSettings()).field, whole.field);
}

TEST(TeamRegistrationTest, CountsTheDevicesThatRegisterTogether)
{
  gpureg::DiffeomorphicProblem problem;
  std::string                  reason;
  const auto count = [&problem, &reason](const gpureg::DiffeomorphicSettings & settings, std::size_t devices) {
    const auto usable = gpureg::TeamRegistration::CountUsable(problem, settings, devices);
    EXPECT_EQ(usable.reason.empty(), usable.devices == devices) << usable.reason;
    reason = usable.reason;
    return usable.devices;
  };
  auto                           settings = MakeSyNTeamSettings();
  const std::vector<std::size_t> expected{ 1, 2, 2, 4, 4, 6 };
  for (std::size_t devices = 1; devices <= expected.size(); ++devices)
  {
    EXPECT_EQ(count(settings, devices), expected[devices - 1]) << devices;
    EXPECT_EQ(reason.find("if their number is even") != std::string::npos, devices == 3 || devices == 5) << reason;
  }
  problem.further.resize(1);
  EXPECT_EQ(count(settings, 4), 2U);
  problem.further[0].weight = 0;
  EXPECT_EQ(count(settings, 4), 4U);
  problem.further.clear();
  settings.similarity.kind = gpureg::SimilarityKind::MattesMutualInformation;
  for (const std::size_t devices : { 3U, 4U, 5U })
  {
    EXPECT_EQ(count(settings, devices), 2U);
    EXPECT_NE(reason.find("more than two devices register together by SyN by the correlation"), std::string::npos);
  }
  settings = MakeTeamSettings();
  EXPECT_EQ(count(settings, 5), 5U);
  settings.smoothing = gpureg::DiffeomorphicSmoothing::Recursive;
  EXPECT_EQ(count(settings, 5), 1U);
  problem.dimension = 2;
  EXPECT_EQ(count(MakeTeamSettings(), 2), 1U);
  EXPECT_EQ(count(MakeSyNTeamSettings(), 4), 2U);
}

TEST_P(TeamRegistrationTest, PlansLessForEachDevice)
{
  if (TakesNoFourQueues(GetParam()))
  {
    GTEST_SKIP() << "PoCL's own assertion fails now and then with four queues at once";
  }
  const VoxelGrid grid = MakeLongGrid(512);
  const double    whole = PlanAlone(GetParam(), grid, MakeTeamSettings());
  Team            team({ GetParam(), GetParam(), GetParam(), GetParam() }, grid);
  for (const gpureg::MemoryPlan & plan : CheckPlans(GetParam(), team, MakeTeamSettings()))
  {
    EXPECT_LT(static_cast<double>(plan.bytes - plan.images), 0.45 * whole);
  }
}

TEST_P(TeamRegistrationTest, EndsOnAllDevicesWhereOneFails)
{
  const VoxelGrid   grid = MakeLongGrid();
  Team              team({ GetParam(), GetParam(), GetParam() }, grid);
  const DenseResult before = team.Register(MakeTeamSettings());
  int               calls = 0;
  EXPECT_THROW(team.registration.Register(team.problems,
                                          MakeTeamSettings(),
                                          OnThreads(2),
                                          [&](const gpureg::DiffeomorphicProgress & where) {
                                            EXPECT_TRUE(where.iteration == 0 || std::isfinite(where.downloadCost()));
                                            EXPECT_THROW(team.registration.GetPlans(team.problems, MakeTeamSettings()),
                                                         gpureg::BadInputError);
                                            EXPECT_THROW(team.TakeField(), gpureg::BadInputError);
                                            if (++calls == 11)
                                            {
                                              throw std::out_of_range("stopped");
                                            }
                                          }),
               std::out_of_range);
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(team.registration.CountVoxels(), 0);
  EXPECT_THROW(team.TakeField(), gpureg::BadInputError);
  auto wrong = team.problems;
  wrong[1].moving.image = nullptr;
  EXPECT_THROW(team.registration.Register(wrong, MakeTeamSettings(), OnThreads(2)), gpureg::BadInputError);
  wrong = team.problems;
  wrong[2].fixed.size[2] /= 2;
  EXPECT_THROW(team.registration.Register(wrong, MakeTeamSettings(), OnThreads(2)), gpureg::BadInputError);
  EXPECT_THROW(team.registration.GetStatistics(3), gpureg::BadInputError);
  EXPECT_EQ(team.Register(MakeTeamSettings()).field, before.field);
}

TEST_P(TeamRegistrationTest, PassesTheFieldToTheHostWhereTheDeviceHasNoRoomForIt)
{
  Team         team({ GetParam(), GetParam(), GetParam() }, MakeLongGrid());
  const Floats field = team.Register(MakeTeamSettings()).field;
  gpureg::SetMemoryLimit(GetParam(), 1);
  EXPECT_THROW(team.registration.GetField(OnThreads(2)), gpureg::OutOfMemoryError);
  gpureg::SetMemoryLimit(GetParam(), 0);
  EXPECT_EQ(team.TakeField(), field);
  EXPECT_EQ(team.TakeKeptField(), field);
  EXPECT_EQ(team.Register(MakeTeamSettings()).field, field);
}

TEST_P(TeamRegistrationTest, HasNoRoomForTwoPartsWhereEachFits)
{
  const VoxelGrid grid = MakeLongGrid();
  for (const auto & settings : { MakeTeamSettings(), MakeSyNTeamSettings() })
  {
    gpureg::ReleaseIdleMemory(GetParam());
    const std::size_t before = gpureg::GetMemoryInUse(GetParam());
    Team              team({ GetParam(), GetParam() }, grid);
    const auto        plans = team.registration.GetPlans(team.problems, settings);
    const std::size_t both = plans[0].bytes + plans[1].bytes;
    ASSERT_LT(std::max(plans[0].bytes, plans[1].bytes), both - 1);
    const std::string hint = plans[0].changes.front().what + " would hold";
    ASSERT_EQ(plans[1].changes.front().what + " would hold", hint);
    // A second registration has engines with arrays, which make room for others. To make room for images is to have as much again.
    const Floats                                        field = team.Register(settings).field;
    const std::pair<std::size_t, std::function<void()>> calls[] = {
      { 0, [&] { team.Register(settings); } },
      { plans[0].images + plans[1].images, [&] { team.registration.MakeRoom(team.problems, settings); } }
    };
    for (const auto & [images, call] : calls)
    {
      gpureg::SetMemoryLimit(GetParam(), before + images + both - 1);
      gpureg::CountMostMemoryFromNow(GetParam());
      const std::size_t held = gpureg::GetMemoryInUse(GetParam());
      try
      {
        call();
        ADD_FAILURE() << "no error";
      }
      catch (const gpureg::OutOfMemoryError & error)
      {
        const std::string text = error.what();
        EXPECT_NE(text.find("out of memory on " + GetParam()), std::string::npos) << text;
        EXPECT_NE(text.find(hint), std::string::npos) << text;
      }
      EXPECT_EQ(gpureg::GetMostMemoryInUse(GetParam()), held);
      EXPECT_EQ(team.registration.CountVoxels(), 0);
      // The plan leaves out what engines keep without arrays, such as the sums of a reduction.
      constexpr std::size_t few = 2 * 4096;
      gpureg::SetMemoryLimit(GetParam(), before + images + both + few);
      call();
      gpureg::SetMemoryLimit(GetParam(), 0);
    }
    EXPECT_EQ(team.Register(settings).field, field);
  }
}

TEST_P(TeamRegistrationTest, KeepsEnginesForTheNextTeam)
{
  const VoxelGrid   grid = MakeLongGrid();
  const std::size_t before = (gpureg::ReleaseIdleMemory(GetParam()), gpureg::GetIdleMemoryInUse(GetParam()));
  std::size_t       held = 0;
  {
    Team team({ GetParam(), GetParam() }, grid);
    team.Register(MakeTeamSettings());
    held = static_cast<std::size_t>(team.registration.GetStatistics(0).deviceBytes +
                                    team.registration.GetStatistics(1).deviceBytes);
    EXPECT_EQ(gpureg::GetIdleMemoryInUse(GetParam()), before);
  }
  EXPECT_GE(gpureg::GetIdleMemoryInUse(GetParam()), before + held);
  {
    // The engines are at work again, and a plan that fails leaves them as they are.
    Team team({ GetParam(), GetParam() }, grid);
    auto settings = MakeTeamSettings();
    settings.step = -1;
    EXPECT_EQ(gpureg::GetIdleMemoryInUse(GetParam()), before);
    EXPECT_THROW(team.registration.GetPlans(team.problems, settings), gpureg::BadInputError);
    EXPECT_THROW(team.registration.MakeRoom(team.problems, settings), gpureg::BadInputError);
  }
  EXPECT_GE(gpureg::GetIdleMemoryInUse(GetParam()), before + held);
  {
    // A registration that fails drops its engines.
    Team team({ GetParam(), GetParam() }, grid);
    EXPECT_EQ(gpureg::GetIdleMemoryInUse(GetParam()), before);
    EXPECT_EQ(team.registration.GetStatistics(0).deviceBytes, 0); // of another team's registration
    EXPECT_THROW(team.registration.Register(team.problems,
                                            MakeTeamSettings(),
                                            OnThreads(2),
                                            [](const gpureg::DiffeomorphicProgress &) {
                                              throw std::out_of_range("stopped");
                                            }),
                 std::out_of_range);
  }
  EXPECT_EQ(gpureg::GetIdleMemoryInUse(GetParam()), before);
}

TEST_P(TeamRegistrationTest, NamesWhatTeamsAreNotFor)
{
  Team       team({ GetParam(), GetParam() }, MakeLongGrid());
  const auto expect = [&](const std::vector<gpureg::DiffeomorphicProblem> & problems,
                          const gpureg::DiffeomorphicSettings &             settings,
                          const std::string &                               part) {
    try
    {
      team.registration.Register(problems, settings, OnThreads(2));
      ADD_FAILURE() << "no error about " << part;
    }
    catch (const gpureg::Error & error)
    {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  auto settings = MakeTeamSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::Velocity;
  expect(team.problems, settings, "by the greedy scheme or by SyN");
  settings = MakeTeamSettings();
  settings.smoothing = gpureg::DiffeomorphicSmoothing::Recursive;
  expect(team.problems, settings, "discrete Gaussians");
  auto problems = team.problems;
  problems[0].dimension = problems[1].dimension = 2;
  expect(problems, MakeTeamSettings(), "three dimensions");
  problems = team.problems;
  problems[1].fixed.mask = problems[1].fixed.image;
  expect(problems, MakeTeamSettings(), "give each the same");
  const auto change = [&](const auto & apply) {
    problems = team.problems;
    for (gpureg::DiffeomorphicProblem & problem : problems)
    {
      problem.further.push_back({ problem.fixed, problem.moving, MakeTeamSettings().similarity, 1, {}, {} });
    }
    apply(problems[1].further[0]);
    expect(problems, MakeTeamSettings(), "give each the same");
  };
  change([](gpureg::FurtherPair & pair) { pair.similarity.radius = 5; });
  change([](gpureg::FurtherPair & pair) { pair.weight = 0; });
  change([](gpureg::FurtherPair & pair) { pair.movingRange = gpureg::ValueRange{ 0, 1 }; });
  problems = team.problems;
  problems.pop_back();
  expect(problems, MakeTeamSettings(), "2 devices take as many problems, and not 1");
  Team three({ GetParam(), GetParam(), GetParam() }, MakeLongGrid(37));
  settings = MakeTeamSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  EXPECT_THROW(three.registration.Register(three.problems, settings, OnThreads(2)), gpureg::UnsupportedError);
  EXPECT_THROW(gpureg::TeamRegistration({}), gpureg::BadInputError);
  EXPECT_THROW(gpureg::TeamRegistration({ GetParam(), "cuda:77" }), gpureg::Error);
}

INSTANTIATE_TEST_SUITE_P(Devices, TeamRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
