// SPDX-License-Identifier: Apache-2.0
// Registers images on several devices together, and compares the deformation with that of one device.
#include "ErrorOfRecord.h"
#include "DenseCase.h"
#include "KnownDeformation.h"
#include "TestDevices.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/image/NarrowImage.h"
#include "gpureg/registration/diffeomorphic/TeamRegistration.h"
#include "gpureg/runtime/Device.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuregtest
{

namespace
{
/** Returns a grid that is long along z, so that its levels of half as many voxels are cut, too. */
VoxelGrid
MakeLongGrid(int planes = 150)
{
  VoxelGrid grid = MakeGrid(3, 1.0);
  grid.size = { 25, 21, planes };
  return grid;
}

gpureg::DiffeomorphicSettings
MakeSettings()
{
  gpureg::DiffeomorphicSettings settings;
  settings.iterations = { 8, 12, 6 };
  settings.step = 0.5;
  return settings;
}

/** Holds the images of a grid on each of several devices. */
class Team
{
public:
  Team(const std::vector<std::string> & devices, const VoxelGrid & grid)
    : registration(devices)
  {
    for (const std::string & device : devices)
    {
      m_Pairs.push_back(std::make_unique<Pair>(device, grid, 1.0));
      problems.push_back(m_Pairs.back()->Load());
    }
  }

  DenseResult
  Register(const gpureg::DiffeomorphicSettings & settings, std::int64_t threads = 2)
  {
    result = registration.Register(problems, settings, OnThreads(threads));
    return { result.levels.back().costs, this->TakeField(), result.warnings };
  }

  Floats
  TakeField(gpureg::DeformationField which = gpureg::DeformationField::Forward)
  {
    Floats field(3 * static_cast<std::size_t>(registration.CountVoxels()), NAN);
    registration.TakeDisplacements(
      [&field](std::int64_t first, std::int64_t count, const float * in) {
        std::copy_n(in, 3 * count, field.begin() + 3 * first);
      },
      OnThreads(2),
      which);
    return field;
  }

  gpureg::TeamRegistration                  registration;
  std::vector<gpureg::DiffeomorphicProblem> problems;
  gpureg::DiffeomorphicResult               result;

private:
  std::vector<std::unique_ptr<Pair>> m_Pairs;
};

Floats
ToFloats(const std::vector<double> & numbers)
{
  return { numbers.begin(), numbers.end() };
}

/** Holds images and masks of 16 and 32 bits on a device, of a pair's values. */
struct StoredImages
{
  StoredImages(const std::string & device, const VoxelGrid & grid)
    : mask(device)
  {
    const Pair pair(device, grid, 1.0);
    for (std::size_t n = 0; n < pair.fixed.size(); ++n)
    {
      fixedValues.push_back(static_cast<std::int16_t>(1000 * pair.fixed[n]));
      movingValues.push_back(static_cast<std::int16_t>(1000 * pair.moving[n]));
      const auto plane = n / static_cast<std::size_t>(grid.size[0] * grid.size[1]);
      maskValues.push_back(plane % 50 < 43 && n % 25 < 20 ? 1.0F : 0.0F);
    }
    const auto load = [&](const std::vector<std::int16_t> & values) {
      return std::make_unique<gpureg::NarrowImage>(
        device, gpureg::NumberType::Int16, values.data(), static_cast<std::int64_t>(values.size()), OnThreads(2));
    };
    fixed = load(fixedValues);
    moving = load(movingValues);
    mask.Load(
      {}, gpureg::Precision::Single, maskValues.data(), static_cast<std::int64_t>(maskValues.size()), OnThreads(2));
  }

  std::vector<std::int16_t>            fixedValues;
  std::vector<std::int16_t>            movingValues;
  Floats                               maskValues;
  std::unique_ptr<gpureg::NarrowImage> fixed;
  std::unique_ptr<gpureg::NarrowImage> moving;
  gpureg::LoadedImage                  mask;
};

/** Plans a registration, runs it, and checks that each device holds what was planned of it. Returns the plans. */
std::vector<gpureg::MemoryPlan>
CheckPlans(const std::string & device, Team & team, const gpureg::DiffeomorphicSettings & settings)
{
  const auto plans = team.registration.GetPlans(team.problems, settings);
  EXPECT_EQ(plans.size(), team.problems.size());
  team.Register(settings);
  for (std::size_t n = 0; n < plans.size(); ++n)
  {
    const auto own = static_cast<double>(plans[n].bytes - plans[n].images);
    const auto held = static_cast<double>(team.registration.GetStatistics(n).deviceBytes);
    EXPECT_NEAR(held, own, 0.05 * own) << "device " << n << " of " << device;
  }
  return plans;
}

class TeamRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(TeamRegistrationTest, ComputesTheDeformationOfOneDevice)
{
  const VoxelGrid grid = MakeLongGrid();
  for (const auto optimizer : { gpureg::DiffeomorphicOptimizer::LongestVector, gpureg::DiffeomorphicOptimizer::Adam })
  {
    auto settings = MakeSettings();
    settings.optimizer = optimizer;
    gpureg::DiffeomorphicRegistration alone(GetParam());
    Pair                              pair(GetParam(), grid, 1.0);
    const auto                        result = alone.Register(pair.Load(), settings, OnThreads(2));
    const Floats                      field = TakeField(alone, alone.CountVoxels());
    ASSERT_GT(ComputeLargest(field), 0.5);
    for (const std::size_t devices : { 1U, 2U, 3U, 4U })
    {
      Team team(std::vector<std::string>(devices, GetParam()), grid);
      EXPECT_EQ(team.Register(settings).field, field) << devices << " devices, " << optimizer;
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
      auto settings = MakeSettings();
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
  auto            settings = MakeSettings();
  settings.similarity.radius = 3;
  settings.updateSigma = 2.5;
  settings.fieldSigma = 0.9;
  settings.weights = { 1, 0, 1 };
  settings.convergenceWindow = 4;
  settings.convergenceThreshold = 0.01;
  settings.iterations = { 8, 12, 30 };
  const auto prepare = [&](const StoredImages & images, gpureg::DiffeomorphicProblem problem) {
    problem.fixed.image = images.fixed.get();
    problem.moving.image = images.moving.get();
    problem.fixed.mask = problem.moving.mask = &images.mask;
    gpureg::IndexMap shift;
    shift.offset = { 0.3, -0.2, 0.9 };
    problem.initial.Append(shift);
    return problem;
  };
  const StoredImages images(GetParam(), grid);
  Pair               pair(GetParam(), grid, 1.0);
  const DenseResult  whole = RegisterDense(GetParam(), prepare(images, pair.Load()), settings);
  ASSERT_GT(ComputeLargest(whole.field), 0.2);
  ASSERT_LT(whole.costs.size(), static_cast<std::size_t>(settings.iterations.back()));
  Team team({ GetParam(), GetParam() }, grid);
  for (gpureg::DiffeomorphicProblem & problem : team.problems)
  {
    problem = prepare(images, problem);
  }
  EXPECT_EQ(team.Register(settings).field, whole.field);
}

TEST_P(TeamRegistrationTest, BeginsWithADeformation)
{
  const VoxelGrid grid = MakeLongGrid();
  Pair            pair(GetParam(), grid, 1.0);
  const auto      start = SampleDisplacements(grid, [&pair](const Point & p) {
    const Point moved = pair.Move(p);
    return Point{ 0.5 * (p[0] + moved[0]), 0.5 * (p[1] + moved[1]), 0.5 * (p[2] + moved[2]) };
  });
  auto            problem = pair.Load();
  problem.initial.Append(start);
  const DenseResult whole = RegisterDense(GetParam(), problem, MakeSettings());
  Team              team({ GetParam(), GetParam(), GetParam() }, grid);
  for (gpureg::DiffeomorphicProblem & its : team.problems)
  {
    its.initial.Append(start);
  }
  EXPECT_LT(ComputeLargestDifference(team.Register(MakeSettings()).field, whole.field), 1e-5);
}

TEST_P(TeamRegistrationTest, JoinsOtherDevices)
{
  const VoxelGrid   grid = MakeLongGrid();
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), MakeSettings());
  Team              team({ GetParam(), "host", GetParam() }, grid);
  EXPECT_LT(ComputeLargestDifference(team.Register(MakeSettings()).field, whole.field), 1e-4);
  // All devices end a level after the same iteration.
  auto settings = MakeSettings();
  settings.convergenceWindow = 3;
  settings.convergenceThreshold = 0.02;
  team.Register(settings);
  EXPECT_LT(team.result.levels.front().costs.size(), 8U);
}

TEST_P(TeamRegistrationTest, ComputesSmallImagesAsAWhole)
{
  const VoxelGrid   grid = MakeLongGrid(50);
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), MakeSettings());
  Team              team({ GetParam(), GetParam() }, grid);
  EXPECT_EQ(team.Register(MakeSettings()).field, whole.field);
}

TEST_P(TeamRegistrationTest, PlansLessForEachDevice)
{
  if (GetParam().rfind("opencl", 0) == 0 && !IsGPU(GetParam()))
  {
    GTEST_SKIP() << "PoCL's own assertion in pocl_release_dlhandle_cache fails now and then with four queues at once";
  }
  const VoxelGrid                   grid = MakeLongGrid(512);
  Pair                              pair(GetParam(), grid, 1.0);
  gpureg::DiffeomorphicRegistration alone(GetParam());
  const gpureg::MemoryPlan          whole = alone.GetPlan(pair.Load(), MakeSettings());
  // Engines that others have used may have larger arrays.
  gpureg::ReleaseIdleMemory(GetParam());
  Team team({ GetParam(), GetParam(), GetParam(), GetParam() }, grid);
  for (const gpureg::MemoryPlan & plan : CheckPlans(GetParam(), team, MakeSettings()))
  {
    EXPECT_LT(static_cast<double>(plan.bytes - plan.images), 0.45 * static_cast<double>(whole.bytes - whole.images));
  }
}

TEST_P(TeamRegistrationTest, EndsOnAllDevicesWhereOneFails)
{
  const VoxelGrid   grid = MakeLongGrid();
  Team              team({ GetParam(), GetParam(), GetParam() }, grid);
  const DenseResult before = team.Register(MakeSettings());
  int               calls = 0;
  EXPECT_THROW(team.registration.Register(team.problems,
                                          MakeSettings(),
                                          OnThreads(2),
                                          [&](const gpureg::DiffeomorphicProgress & where) {
                                            EXPECT_TRUE(where.iteration == 0 || std::isfinite(where.downloadCost()));
                                            EXPECT_THROW(team.registration.GetPlans(team.problems, MakeSettings()),
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
  EXPECT_THROW(team.registration.Register(wrong, MakeSettings(), OnThreads(2)), gpureg::BadInputError);
  wrong = team.problems;
  wrong[2].fixed.size[2] /= 2;
  EXPECT_THROW(team.registration.Register(wrong, MakeSettings(), OnThreads(2)), gpureg::BadInputError);
  EXPECT_THROW(team.registration.GetStatistics(3), gpureg::BadInputError);
  EXPECT_EQ(team.Register(MakeSettings()).field, before.field);
}

TEST_P(TeamRegistrationTest, ComputesSyNOfOneDevice)
{
  using gpureg::SimilarityKind;
  for (const auto kind : { SimilarityKind::NeighborhoodCorrelation, SimilarityKind::MattesMutualInformation })
  {
    for (const int variant : { 0, 1, 2 })
    {
      // With both masks and averaged updates; with one mask, smoothed fields, and a level's end by its costs; with further pairs, in 2D.
      const VoxelGrid grid = variant == 2 ? MakeGrid(2, 1.0) : MakeLongGrid(37);
      auto            settings = MakeSettings();
      settings.scheme = gpureg::DiffeomorphicScheme::SyN;
      settings.similarity.kind = kind;
      settings.step = 0.25;
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
      Team team({ GetParam(), GetParam() }, grid);
      for (gpureg::DiffeomorphicProblem & problem : team.problems)
      {
        problem = prepare(problem);
      }
      const DenseResult together = team.Register(settings);
      EXPECT_EQ(together.field, whole.field) << kind << ", variant " << variant;
      EXPECT_EQ(together.costs, whole.costs);
      using gpureg::DeformationField;
      for (const auto field :
           { DeformationField::FixedToMiddle, DeformationField::MiddleToMoving, DeformationField::Inverse })
      {
        EXPECT_EQ(team.TakeField(field), TakeField(alone, alone.CountVoxels(), field));
      }
      gpureg::InverseErrors errors, errorsTogether;
      const Floats          inverse = TakeInverse(alone, alone.CountVoxels(), errors);
      Floats                inverseTogether(inverse.size());
      errorsTogether = team.registration.TakeInverse(
        [&](std::int64_t first, std::int64_t count, const float * in) {
          std::copy_n(in, 3 * count, inverseTogether.begin() + 3 * first);
        },
        OnThreads(2));
      EXPECT_EQ(inverseTogether, inverse);
      EXPECT_EQ(errorsTogether.largest, errors.largest);
    }
  }
}

TEST_P(TeamRegistrationTest, ComputesSyNOnOtherDevices)
{
  const VoxelGrid grid = MakeLongGrid(37);
  auto            settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.step = 0.25;
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
  Team              team({ GetParam(), "host" }, grid);
  EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), 1e-4);
}

TEST_P(TeamRegistrationTest, CutsTheSidesOfSyN)
{
  if (GetParam().rfind("opencl", 0) == 0 && !IsGPU(GetParam()))
  {
    GTEST_SKIP() << "PoCL's own assertion in pocl_release_dlhandle_cache fails now and then with four queues at once";
  }
  for (const int variant : { 0, 1, 2 })
  {
    // As it is by default; with averaged updates, a mask that leaves slabs empty, and an initial shift; with smoothed fields, a level's end by its
    // costs, a halo of two blocks of planes, and planes of another distance.
    VoxelGrid grid = MakeLongGrid(variant == 2 ? 203 : 160);
    if (variant == 2)
    {
      grid.toPoint.matrix[8] *= 0.7;
    }
    auto settings = MakeSettings();
    settings.scheme = gpureg::DiffeomorphicScheme::SyN;
    settings.step = 0.25;
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
    for (const std::size_t devices : { 4U, 6U })
    {
      Team team(std::vector<std::string>(devices, GetParam()), grid);
      for (gpureg::DiffeomorphicProblem & problem : team.problems)
      {
        problem = prepare(problem);
      }
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
    }
  }
}

TEST_P(TeamRegistrationTest, CutsTheSidesOfSyNOnOtherDevices)
{
  const VoxelGrid grid = MakeLongGrid(160);
  auto            settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.step = 0.25;
  Pair              pair(GetParam(), grid, 1.0);
  const DenseResult whole = RegisterDense(GetParam(), pair.Load(), settings);
  // Each side is on two devices, and each slab.
  Team team({ GetParam(), "host", "host", GetParam() }, grid);
  EXPECT_LT(ComputeLargestDifference(team.Register(settings).field, whole.field), 1e-4);
}

TEST_P(TeamRegistrationTest, ReadsAsFarAsTheFieldsOfSyNLead)
{
  if (GetParam().rfind("opencl", 0) == 0 && !IsGPU(GetParam()))
  {
    GTEST_SKIP() << "PoCL's own assertion in pocl_release_dlhandle_cache fails now and then with four queues at once";
  }
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
  auto settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.iterations = { 3, 4 };
  settings.syn.shrinkFactors = { { 2, 2, 2 }, { 1, 1, 1 } };
  settings.step = 0.25;
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
    Team team(std::vector<std::string>(devices, GetParam()), grid);
    for (gpureg::DiffeomorphicProblem & problem : team.problems)
    {
      problem = prepare(problem);
    }
    EXPECT_EQ(team.Register(settings).field, whole.field) << devices << " devices";
  }
}

TEST_P(TeamRegistrationTest, PlansTheSlabsOfSyN)
{
  if (GetParam().rfind("opencl", 0) == 0 && !IsGPU(GetParam()))
  {
    GTEST_SKIP() << "PoCL's own assertion in pocl_release_dlhandle_cache fails now and then with four queues at once";
  }
  const VoxelGrid grid = MakeLongGrid(384);
  auto            settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  settings.iterations = { 2, 2, 2 };
  settings.step = 0.25;
  Team       two({ GetParam(), GetParam() }, grid);
  const auto sides = two.registration.GetPlans(two.problems, settings);
  for (const double fieldSigma : { 0.0, 0.6 })
  {
    settings.fieldSigma = fieldSigma;
    gpureg::ReleaseIdleMemory(GetParam());
    Team team({ GetParam(), GetParam(), GetParam(), GetParam() }, grid);
    EXPECT_LT(CheckPlans(GetParam(), team, settings)[3].bytes, sides[1].bytes) << fieldSigma;
  }
}

TEST_P(TeamRegistrationTest, KeepsEnginesForTheNextTeam)
{
  const VoxelGrid   grid = MakeLongGrid();
  const std::size_t before = (gpureg::ReleaseIdleMemory(GetParam()), gpureg::GetIdleMemoryInUse(GetParam()));
  std::size_t       held = 0;
  {
    Team team({ GetParam(), GetParam() }, grid);
    team.Register(MakeSettings());
    held = static_cast<std::size_t>(team.registration.GetStatistics(0).deviceBytes +
                                    team.registration.GetStatistics(1).deviceBytes);
    EXPECT_EQ(gpureg::GetIdleMemoryInUse(GetParam()), before);
  }
  EXPECT_GE(gpureg::GetIdleMemoryInUse(GetParam()), before + held);
  {
    // The engines are at work again, and those of a failure are not kept.
    Team team({ GetParam(), GetParam() }, grid);
    EXPECT_EQ(gpureg::GetIdleMemoryInUse(GetParam()), before);
    EXPECT_THROW(team.registration.Register(team.problems,
                                            MakeSettings(),
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
  auto settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::Velocity;
  expect(team.problems, settings, "by the greedy scheme or by SyN");
  settings = MakeSettings();
  settings.similarity.kind = gpureg::SimilarityKind::MeanSquares;
  expect(team.problems, settings, "correlation over neighborhoods");
  settings = MakeSettings();
  settings.smoothing = gpureg::DiffeomorphicSmoothing::Recursive;
  expect(team.problems, settings, "discrete Gaussians");
  auto problems = team.problems;
  problems[0].dimension = problems[1].dimension = 2;
  expect(problems, MakeSettings(), "three dimensions");
  problems = team.problems;
  for (gpureg::DiffeomorphicProblem & problem : problems)
  {
    problem.further.push_back({ problem.fixed, problem.moving, MakeSettings().similarity, 1, {}, {} });
  }
  expect(problems, MakeSettings(), "one pair");
  problems = team.problems;
  problems[1].fixed.mask = problems[1].fixed.image;
  expect(problems, MakeSettings(), "give each the same");
  problems.pop_back();
  expect(problems, MakeSettings(), "2 devices take as many problems, and not 1");
  Team three({ GetParam(), GetParam(), GetParam() }, MakeLongGrid(37));
  settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::SyN;
  EXPECT_THROW(three.registration.Register(three.problems, settings, OnThreads(2)), gpureg::UnsupportedError);
  Team four({ "host", "host", "host", "host" }, MakeLongGrid(37));
  settings.similarity.kind = gpureg::SimilarityKind::MattesMutualInformation;
  EXPECT_THROW(four.registration.GetPlans(four.problems, settings), gpureg::UnsupportedError);
  EXPECT_THROW(gpureg::TeamRegistration({}), gpureg::BadInputError);
  EXPECT_THROW(gpureg::TeamRegistration({ GetParam(), "cuda:77" }), gpureg::Error);
}

INSTANTIATE_TEST_SUITE_P(Devices, TeamRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
