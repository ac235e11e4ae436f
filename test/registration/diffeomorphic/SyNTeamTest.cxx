// SPDX-License-Identifier: Apache-2.0
// Registers images by SyN on several devices together, and compares the fields with those of one device.
#include "TeamCase.h"

#include "gpureg/core/Error.h"
#include "gpureg/runtime/Device.h"

#include <limits>
#include <stdexcept>

namespace gpuregtest
{

namespace
{
class SyNTeamTest : public ::testing::TestWithParam<std::string>
{};

/** Tests with four devices, each of which has a slab of a side. */
class SyNSlabsTest : public SyNTeamTest
{
protected:
  void
  SetUp() override
  {
    if (TakesNoFourQueues(GetParam()))
    {
      GTEST_SKIP() << "PoCL's own assertion fails now and then with four queues at once";
    }
  }
};
} // namespace

TEST_P(SyNTeamTest, ComputesSyNOfOneDevice)
{
  using gpureg::SimilarityKind;
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MattesMutualInformation })
  {
    for (const int variant : { 0, 1, 2 })
    {
      // With both masks and averaged updates; with one mask, smoothed fields, and a level's end by its costs; with further pairs, in 2D.
      const VoxelGrid grid = variant == 2 ? MakeGrid(2, 1.0) : MakeLongGrid(37);
      auto            settings = MakeSyNTeamSettings();
      settings.similarity.kind = kind;
      settings.syn.averagesGradients = variant == 0;
      settings.fieldSigma = variant == 1 ? 0.6 : 0;
      settings.convergenceWindow = variant == 1 ? 4 : 0;
      settings.convergenceThreshold = 0.05;
      const StoredImages images(GetParam(), grid);
      const auto         prepare = [&](gpureg::DiffeomorphicProblem problem) {
        problem.fixed.mask = variant == 0 ? &images.mask : nullptr;
        problem.moving.mask = variant < 2 ? &images.mask : nullptr;
        if (variant == 2)
        {
          gpureg::FurtherPair pair{ problem.fixed, problem.moving, settings.similarity, 0.5, {}, {} };
          pair.similarity.kind = SimilarityKind::MeanSquares;
          problem.further.push_back(pair);
        }
        return problem;
      };
      Pair                              pair(GetParam(), grid, 1.0);
      gpureg::DiffeomorphicRegistration alone(GetParam());
      const DenseResult                 whole = RegisterDense(alone, prepare(pair.Load()), settings);
      ASSERT_GT(ComputeLargest(whole.field), 0.5);
      Team              team({ GetParam(), GetParam() }, grid, prepare);
      const DenseResult together = team.Register(settings);
      EXPECT_EQ(together.field, whole.field) << kind << ", variant " << variant;
      EXPECT_EQ(together.costs, whole.costs);
      using gpureg::DeformationField;
      for (const auto field :
           { DeformationField::FixedToMiddle, DeformationField::MiddleToMoving, DeformationField::Inverse })
      {
        EXPECT_EQ(team.TakeField(field), TakeField(alone, alone.CountVoxels(), field));
      }
      gpureg::InverseErrors errors, errorsTogether, errorsOfKept;
      const Floats          inverse = TakeInverse(alone, alone.CountVoxels(), errors);
      EXPECT_EQ(team.TakeInverse(errorsTogether), inverse);
      EXPECT_EQ(errorsTogether.largest, errors.largest);
      EXPECT_EQ(team.TakeKeptInverse(errorsOfKept), inverse);
      EXPECT_EQ(errorsOfKept.largest, errors.largest);
      EXPECT_EQ(team.TakeKeptField(), whole.field);
      // Also where the same engines have given arrays away.
      EXPECT_EQ(team.TakeField(DeformationField::MovingToMiddle),
                TakeField(alone, alone.CountVoxels(), DeformationField::MovingToMiddle));
      EXPECT_EQ(team.Register(settings).field, whole.field);
      EXPECT_EQ(team.TakeKeptInverse(errorsOfKept), inverse);
    }
  }
}

TEST_P(SyNTeamTest, ComputesSyNOnOtherDevices)
{
  const VoxelGrid   grid = MakeLongGrid(37);
  auto              settings = MakeSyNTeamSettings();
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
  Team              team({ GetParam(), "host" }, grid);
  EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), 1e-4);
}

TEST_P(SyNSlabsTest, CutsTheSidesOfSyN)
{
  for (const int variant : { 0, 1, 2 })
  {
    // As it is by default; with averaged updates, a mask that leaves slabs empty, and an initial shift; with smoothed fields, a level's end by its
    // costs, a halo of two blocks of planes, and planes of another distance.
    VoxelGrid grid = MakeLongGrid(variant == 2 ? 203 : 160);
    if (variant == 2)
    {
      grid.toPoint.matrix[8] *= 0.7;
    }
    auto settings = MakeSyNTeamSettings();
    settings.syn.averagesGradients = variant == 1;
    if (variant == 2)
    {
      settings.fieldSigma = 0.6;
      settings.convergenceWindow = 4;
      settings.convergenceThreshold = 0.05;
      settings.similarity.radius = 4;
    }
    const StoredImages images(GetParam(), grid);
    const auto         prepare = [&](gpureg::DiffeomorphicProblem problem) {
      if (variant == 1)
      {
        problem.fixed.image = images.fixed.get();
        problem.moving.image = images.moving.get();
        problem.fixed.mask = &images.mask;
        gpureg::IndexMap shift;
        shift.offset = { 0.3, -0.2, 0.9 };
        problem.initial.Append(shift);
      }
      return problem;
    };
    Pair                              pair(GetParam(), grid, 1.0);
    gpureg::DiffeomorphicRegistration alone(GetParam());
    const DenseResult                 whole = RegisterDense(alone, prepare(pair.Load()), settings);
    ASSERT_GT(ComputeLargest(whole.field), 0.5);
    gpureg::InverseErrors errors;
    const Floats          inverse = TakeInverse(alone, alone.CountVoxels(), errors);
    for (const std::size_t devices : { 4U, 6U })
    {
      Team              team(std::vector<std::string>(devices, GetParam()), grid, prepare);
      const std::string where = std::to_string(devices) + " devices, variant " + std::to_string(variant);
      const DenseResult together = team.Register(settings);
      EXPECT_EQ(together.costs.size(), whole.costs.size()) << where;
      EXPECT_LT(ComputeLargestDifference(ToFloats(together.costs), ToFloats(whole.costs)), 1e-6) << where;
      EXPECT_EQ(together.field, whole.field) << where;
      using gpureg::DeformationField;
      for (const auto field :
           { DeformationField::FixedToMiddle, DeformationField::MiddleToMoving, DeformationField::Inverse })
      {
        EXPECT_EQ(team.TakeField(field), TakeField(alone, alone.CountVoxels(), field))
          << where << ", field " << static_cast<int>(field);
      }
      EXPECT_EQ(team.TakeKeptInverse(errors), inverse) << where;
      EXPECT_EQ(team.TakeKeptField(), whole.field) << where;
      EXPECT_EQ(team.Register(settings).field, whole.field) << where;
    }
  }
}

TEST_P(SyNSlabsTest, EndsLevelsWithTheIterationOfOneDevice)
{
  // The costs of a converged level differ by some last digits.
  VoxelGrid grid = MakeLongGrid(72);
  grid.size[0] = grid.size[1] = 16;
  auto settings = MakeSyNTeamSettings();
  settings.iterations = { 150 };
  settings.similarity.radius = 4;
  settings.convergenceWindow = 10;
  settings.convergenceThreshold = 1e-4;
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
  Team              team(std::vector<std::string>(4, GetParam()), grid);
  const DenseResult together = team.Register(settings);
  EXPECT_LT(whole.costs.size(), 150U);
  ASSERT_EQ(together.costs.size(), whole.costs.size());
  // One device divides its sums by itself, and OpenCL's division may be wrong by 2.5 units in the last place.
  const double division = GetParam().rfind("opencl", 0) == 0 ? 2.5 * std::numeric_limits<float>::epsilon() : 0;
  EXPECT_LE(ComputeLargestDifference(ToFloats(together.costs), ToFloats(whole.costs)), division);
  EXPECT_LT(ComputeLargestDifference(together.field, whole.field), 1e-6);
}

TEST_P(SyNTeamTest, CutsTheSidesOfSyNOnOtherDevices)
{
  const VoxelGrid   grid = MakeLongGrid(160);
  auto              settings = MakeSyNTeamSettings();
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
  // Each side is on two devices, and each slab.
  Team team({ GetParam(), "host", "host", GetParam() }, grid);
  EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), 1e-4);
}

TEST_P(SyNSlabsTest, ReadsAsFarAsTheFieldsOfSyNLead)
{
  // The fields lead 40 planes far at first: through a slab of 32 planes, and beyond the halo. The grid is turned about x, so that
  // displacements along y lead along z.
  VoxelGrid    grid = MakeLongGrid(192);
  const double c = std::cos(0.3), s = std::sin(0.3);
  const auto & edges = grid.toPoint.matrix;
  const auto   edgeY = edges[4], edgeZ = edges[8];
  grid.toPoint.matrix = { edges[0], 0, 0, 0, c * edgeY, -s * edgeZ, 0, s * edgeY, c * edgeZ };
  const auto wave = [&grid](double amplitude) {
    return [&grid, amplitude](std::int64_t first, std::int64_t count, void * out) {
      const std::int64_t ofPlane = std::int64_t{ grid.size[0] } * grid.size[1];
      for (std::int64_t n = first; n < first + count; ++n)
      {
        const double along = amplitude * std::sin(0.05 * static_cast<double>(n / ofPlane));
        auto *       vector = static_cast<float *>(out) + 3 * (n - first);
        vector[0] = 0;
        vector[1] = static_cast<float>(grid.toPoint.matrix[5] * along);
        vector[2] = static_cast<float>(grid.toPoint.matrix[8] * along);
      }
    };
  };
  auto settings = MakeSyNTeamSettings();
  settings.iterations = { 3, 4 };
  settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  const auto prepare = [&](gpureg::DiffeomorphicProblem problem) {
    problem.fixedState = gpureg::MiddleState{ grid.size, grid.toPoint, wave(40), wave(-40) };
    problem.movingState = gpureg::MiddleState{ grid.size, grid.toPoint, wave(-30), wave(30) };
    return problem;
  };
  Pair                              pair(GetParam(), grid, 1.0);
  gpureg::DiffeomorphicRegistration alone(GetParam());
  const DenseResult                 whole = RegisterDense(alone, prepare(pair.Load()), settings);
  ASSERT_GT(ComputeLargest(TakeField(alone, alone.CountVoxels(), gpureg::DeformationField::FixedToMiddle)), 30);
  for (const std::size_t devices : { 4U, 8U })
  {
    Team team(std::vector<std::string>(devices, GetParam()), grid, prepare);
    EXPECT_EQ(team.Register(settings).field, whole.field) << devices << " devices";
  }
}

TEST_P(SyNSlabsTest, BeginsWithADeformationAndInvertsItsOwn)
{
  // The state of a transform that is not linear is read from a slab's first voxel on.
  const VoxelGrid                   grid = MakeLongGrid(160);
  auto                              settings = MakeSyNTeamSettings();
  Pair                              pair(GetParam(), grid, 1.0);
  const auto                        prepare = BeginHalfWay(pair, grid);
  gpureg::DiffeomorphicRegistration alone(GetParam());
  const DenseResult                 whole = RegisterDense(alone, prepare(pair.Load()), settings);
  ASSERT_GT(ComputeLargest(whole.field), 0.2);
  Team team(std::vector<std::string>(4, GetParam()), grid, prepare);
  EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), 1e-5);
  gpureg::InverseErrors errors, errorsTogether;
  const Floats          inverse = TakeInverse(alone, alone.CountVoxels(), errors);
  EXPECT_LT(ComputeLargestDifference(team.TakeInverse(errorsTogether), inverse), 1e-5);
  EXPECT_LT(errorsTogether.largest, 1e-3);
}

TEST_P(SyNSlabsTest, EndsOnAllDevicesWhereOneFails)
{
  const VoxelGrid   grid = MakeLongGrid(160);
  auto              settings = MakeSyNTeamSettings();
  Team              team(std::vector<std::string>(4, GetParam()), grid);
  const DenseResult before = team.Register(settings);
  int               calls = 0;
  EXPECT_THROW(team.registration.Register(team.problems,
                                          settings,
                                          OnThreads(2),
                                          [&calls](const gpureg::DiffeomorphicProgress &) {
                                            if (++calls == 11)
                                            {
                                              throw std::out_of_range("stopped");
                                            }
                                          }),
               std::out_of_range);
  // Another device than the first one.
  auto wrong = team.problems;
  wrong[3].moving.image = nullptr;
  EXPECT_THROW(team.registration.Register(wrong, settings, OnThreads(2)), gpureg::BadInputError);
  EXPECT_EQ(team.Register(settings).field, before.field);
  // An engine that has moved a slab moves an image, or all, to the same bits.
  Team two({ GetParam(), GetParam() }, grid);
  EXPECT_EQ(two.Register(settings).field, before.field);
}

TEST_P(SyNSlabsTest, NamesWhatTeamsAreNotFor)
{
  auto       settings = MakeSyNTeamSettings();
  Team       team(std::vector<std::string>(4, GetParam()), MakeLongGrid(37));
  const auto expect = [&](const std::vector<gpureg::DiffeomorphicProblem> & problems, const std::string & part) {
    try
    {
      team.registration.GetPlans(problems, settings);
      ADD_FAILURE() << "no error about " << part;
    }
    catch (const gpureg::UnsupportedError & error)
    {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  auto problems = team.problems;
  for (gpureg::DiffeomorphicProblem & problem : problems)
  {
    problem.further.push_back({ problem.fixed, problem.moving, settings.similarity, 1, {}, {} });
  }
  expect(problems, "register together by SyN one pair of images; take 2 devices");
  problems = team.problems;
  for (gpureg::DiffeomorphicProblem & problem : problems)
  {
    problem.dimension = 2;
  }
  expect(problems, "more than two devices register together by SyN images of three dimensions");
  settings.similarity.kind = gpureg::SimilarityKind::MattesMutualInformation;
  expect(team.problems, "by SyN by the correlation over neighborhoods");
}

TEST_P(SyNTeamTest, EachOfTwoDevicesHoldsLessThanOneAlone)
{
  const VoxelGrid grid = MakeLongGrid(200);
  const auto      settings = MakeSyNTeamSettings();
  const double    whole = PlanAlone(GetParam(), grid, settings);
  Team            team({ GetParam(), GetParam() }, grid);
  for (const gpureg::MemoryPlan & plan : CheckPlans(GetParam(), team, settings))
  {
    // 0.70 at 1024 voxels along each axis
    EXPECT_LT(static_cast<double>(plan.bytes - plan.images), 0.85 * whole);
  }
  // The next registration holds no more, though the first device makes again what it has given away.
  const auto most = static_cast<double>(gpureg::GetMostMemoryInUse(GetParam()));
  gpureg::CountMostMemoryFromNow(GetParam());
  team.Register(settings);
  EXPECT_LE(static_cast<double>(gpureg::GetMostMemoryInUse(GetParam())), 1.05 * most);
}

TEST_P(SyNSlabsTest, PlansTheSlabsOfSyN)
{
  const VoxelGrid grid = MakeLongGrid(384);
  auto            settings = MakeSyNTeamSettings();
  settings.iterations = { 2, 2, 2 };
  Team       two({ GetParam(), GetParam() }, grid);
  const auto sides = two.registration.GetPlans(two.problems, settings);
  // Another scheme would divide the devices in another way.
  for (const gpureg::PlannedChange & change : sides.front().changes)
  {
    EXPECT_EQ(change.what.find("greedy"), std::string::npos) << change.what;
  }
  EXPECT_FALSE(sides.front().changes.empty());
  for (const double fieldSigma : { 0.0, 0.6 })
  {
    settings.fieldSigma = fieldSigma;
    gpureg::ReleaseIdleMemory(GetParam());
    Team team({ GetParam(), GetParam(), GetParam(), GetParam() }, grid);
    EXPECT_LT(CheckPlans(GetParam(), team, settings)[3].bytes, sides[1].bytes) << fieldSigma;
  }
}

TEST_P(SyNTeamTest, PassesFieldsToTheHostWhereTheDeviceHasNoRoomForThem)
{
  Team                  team({ GetParam(), GetParam() }, MakeLongGrid(37));
  const Floats          field = team.Register(MakeSyNTeamSettings()).field;
  gpureg::InverseErrors errors;
  gpureg::SetMemoryLimit(GetParam(), 1);
  EXPECT_THROW(team.registration.GetInverse(OnThreads(2)), gpureg::OutOfMemoryError);
  gpureg::SetMemoryLimit(GetParam(), 0);
  const Floats inverse = team.TakeInverse(errors);
  EXPECT_LT(errors.largest, 1e-3);
  const auto kept = team.registration.GetInverse(OnThreads(2));
  gpureg::SetMemoryLimit(GetParam(), 1);
  EXPECT_THROW(team.registration.GetField(OnThreads(2)), gpureg::OutOfMemoryError);
  gpureg::SetMemoryLimit(GetParam(), 0);
  EXPECT_EQ(team.TakeField(), field);
  EXPECT_EQ(team.TakeKeptInverse(errors), inverse);
}

INSTANTIATE_TEST_SUITE_P(Devices, SyNTeamTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);
INSTANTIATE_TEST_SUITE_P(Devices, SyNSlabsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
