// SPDX-License-Identifier: Apache-2.0
// Registers images whose deformation is known by the greedy scheme on every device, and compares the devices.
#include "ErrorOfRecord.h"
#include "KnownDeformation.h"
#include "TestDevices.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
gpureg::DiffeomorphicSettings
MakeSettings()
{
  gpureg::DiffeomorphicSettings settings;
  settings.iterations = { 60, 60 };
  // Updates all have one length, so the field ends no nearer to the truth than a step of it.
  settings.step = 0.25;
  return settings;
}

Floats
Register(const std::string &                   device,
         Pair &                                pair,
         const gpureg::DiffeomorphicSettings & settings,
         std::int64_t                          threads = 2)
{
  gpureg::DiffeomorphicRegistration registration(device);
  const auto                        result = registration.Register(pair.Load(), settings, OnThreads(threads));
  EXPECT_EQ(result.foldedVoxels, 0);
  EXPECT_GT(result.smallestDeterminant, 0.1);
  EXPECT_LT(result.levels.front().costs.back(), result.levels.front().costs.front());
  return TakeField(registration, result.levels.back().voxels);
}

class GreedyRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(GreedyRegistrationTest, ComputesAKnownDeformation)
{
  for (const int dimension : { 2, 3 })
  {
    for (const double edge : { 0.05, 1.0, 25.0 })
    {
      Pair         pair(GetParam(), dimension, edge);
      const Floats nothing(3 * pair.fixed.size());
      ASSERT_GT(pair.ComputeError(nothing), 1.2);
      EXPECT_TRUE(IsWithinRecord(GetParam(),
                                 pair.ComputeError(Register(GetParam(), pair, MakeSettings())),
                                 dimension == 2 ? 0.0663 : 0.0883))
        << dimension << "D, " << edge << " mm";
    }
  }
}

TEST_P(GreedyRegistrationTest, ComputesItByEachSimilarity)
{
  const std::pair<gpureg::SimilarityKind, double> errorsOfRecord[] = {
    { gpureg::SimilarityKind::MeanSquares, 0.0482 },
    { gpureg::SimilarityKind::Correlation, 0.0538 },
    { gpureg::SimilarityKind::CorrelationRatio, 0.0698 },
    { gpureg::SimilarityKind::MattesMutualInformation, 0.09 },
    { gpureg::SimilarityKind::NormalizedMutualInformation, 0.078 },
    { gpureg::SimilarityKind::Demons, 0.0761 }
  };
  for (const auto & [kind, errorOfRecord] : errorsOfRecord)
  {
    Pair pair(GetParam(), 2, 1.0);
    auto settings = MakeSettings();
    settings.similarity.kind = kind;
    EXPECT_TRUE(IsWithinRecord(GetParam(), pair.ComputeError(Register(GetParam(), pair, settings)), errorOfRecord))
      << kind;
    EXPECT_EQ(Register(GetParam(), pair, settings, 1), Register(GetParam(), pair, settings, 3)) << kind;
  }
}

TEST_P(GreedyRegistrationTest, ComputesItByAdam)
{
  for (const int dimension : { 2, 3 })
  {
    for (const double edge : { 0.05, 25.0 })
    {
      Pair pair(GetParam(), dimension, edge);
      auto settings = MakeSettings();
      settings.optimizer = gpureg::DiffeomorphicOptimizer::Adam;
      settings.updateSigma = 1;
      const Floats field = Register(GetParam(), pair, settings, 1);
      EXPECT_TRUE(IsWithinRecord(GetParam(), pair.ComputeError(field), dimension == 2 ? 0.128 : 0.27))
        << dimension << "D, " << edge << " mm";
      EXPECT_EQ(field, Register(GetParam(), pair, settings, 3));
    }
  }
}

TEST_P(GreedyRegistrationTest, MakesAdamsFirstStep)
{
  // The first step of each component has the length of a step, less where the update is small beside its longest vector.
  Pair pair(GetParam(), 2, 1.0);
  auto settings = MakeSettings();
  settings.iterations = { 1 };
  settings.fieldSigma = 0;
  const auto step = [&](gpureg::DiffeomorphicOptimizer optimizer) {
    settings.optimizer = optimizer;
    gpureg::DiffeomorphicRegistration registration(GetParam());
    registration.Register(pair.Load(), settings, OnThreads(2));
    return TakeField(registration, registration.CountVoxels());
  };
  const Floats longest = step(gpureg::DiffeomorphicOptimizer::LongestVector);
  const Floats byAdam = step(gpureg::DiffeomorphicOptimizer::Adam);
  // In voxels: ITK measures component c by the spacing of axis c.
  const double spacing[] = { 1.0, 1.25, 1.0 };
  double       largest = 0;
  for (std::size_t n = 0; n < longest.size(); n += 3)
  {
    double length = 0;
    for (std::size_t c = 0; c < 3; ++c)
    {
      const double gradient = longest[n + c] / spacing[c] / settings.step;
      length += std::pow(gradient / (std::abs(gradient) + 0.1), 2);
    }
    largest = std::max(largest, std::sqrt(length));
  }
  // Steps are shortened together where one is longer than allowed.
  const double factor = settings.step / std::max(1.0, largest);
  for (std::size_t n = 0; n < longest.size(); ++n)
  {
    const double gradient = longest[n] / spacing[n % 3] / settings.step;
    EXPECT_NEAR(byAdam[n], factor * gradient / (std::abs(gradient) + 0.1) * spacing[n % 3], 2e-5 * settings.step) << n;
  }
}

TEST_P(GreedyRegistrationTest, IsTheSameOnEachDeviceAndForAnyNumberOfThreads)
{
  Pair         here(GetParam(), 3, 1.0);
  Pair         onHost("host", 3, 1.0);
  const auto   settings = MakeSettings();
  const Floats field = Register(GetParam(), here, settings, 1);
  EXPECT_EQ(field, Register(GetParam(), here, settings, 3));
  const Floats reference = Register("host", onHost, settings);
  double       largest = 0;
  for (std::size_t n = 0; n < field.size(); ++n)
  {
    largest = std::max(largest, std::abs(static_cast<double>(field[n]) - reference[n]));
  }
  // Devices round sums of products differently, and 120 steps pass that on: voxels.
  EXPECT_LT(largest, 0.02);
}

TEST_P(GreedyRegistrationTest, TakesLittleMemory)
{
  const gpureg::Size  size{ 90, 80, 70 };
  const std::int64_t  count = gpureg::CountOf(size);
  gpureg::LoadedImage loaded(GetParam());
  Floats              values;
  for (std::int64_t n = 0; n < count; ++n)
  {
    values.push_back(static_cast<float>(n % 97 + n % 31));
  }
  loaded.Load({}, gpureg::Precision::Single, values.data(), count, OnThreads(2));
  gpureg::DiffeomorphicProblem problem;
  problem.fixed.image = &loaded;
  problem.fixed.size = size;
  problem.moving = problem.fixed;
  auto settings = MakeSettings();
  settings.iterations = { 1, 1 };
  gpureg::DiffeomorphicRegistration registration(GetParam());
  registration.Register(problem, settings, OnThreads(2));
  // Bytes a voxel. The images themselves are not the registration's.
  EXPECT_LE(registration.GetStatistics().deviceBytes, 80 * count);
  EXPECT_GE(registration.GetStatistics().deviceBytes, 60 * count);
  const std::int64_t before = registration.GetStatistics().deviceBytes;
  settings.optimizer = gpureg::DiffeomorphicOptimizer::Adam;
  registration.Register(problem, settings, OnThreads(2));
  EXPECT_NEAR(registration.GetStatistics().deviceBytes - before, 24 * count, count);
}

TEST_P(GreedyRegistrationTest, BeginsWithALinearTransform)
{
  Pair pair(GetParam(), 3, 1.0);
  auto problem = pair.Load();
  // Shifts the moving image, and shifts points back.
  problem.moving.indexToPoint.offset[0] += 7;
  gpureg::IndexMap shift;
  shift.offset[0] = 7;
  problem.initial.Append(shift);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        result = registration.Register(problem, MakeSettings(), OnThreads(2));
  EXPECT_TRUE(
    IsWithinRecord(GetParam(), pair.ComputeError(TakeField(registration, result.levels.back().voxels)), 0.0883));
}

TEST_P(GreedyRegistrationTest, LooksInsideOfMasks)
{
  for (const bool isFixed : { true, false })
  {
    const MaskErrors errors = ComputeMaskErrors(GetParam(), MakeSettings(), isFixed);
    EXPECT_TRUE(IsWithinRecord(GetParam(), errors.masked, 0.128)) << (isFixed ? "fixed" : "moving");
    EXPECT_GT(errors.unmasked, 1.5 * errors.masked) << (isFixed ? "fixed" : "moving");
  }
}

TEST_P(GreedyRegistrationTest, SaysWhatIsWrongAndGoesOn)
{
  Pair                              pair(GetParam(), 3, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        refuses = [&](const gpureg::DiffeomorphicSettings & settings) {
    EXPECT_THROW(registration.Register(pair.Load(), settings, OnThreads(2)), gpureg::BadInputError);
    EXPECT_THROW(TakeField(registration, 1), gpureg::BadInputError);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto         settings = MakeSettings();
  settings.iterations = {};
  refuses(settings);
  settings.iterations = { 5, -1 };
  refuses(settings);
  for (double gpureg::DiffeomorphicSettings::*number : { &gpureg::DiffeomorphicSettings::step,
                                                         &gpureg::DiffeomorphicSettings::updateSigma,
                                                         &gpureg::DiffeomorphicSettings::fieldSigma })
  {
    for (const double bad : { -1.0, nan, 1e9 })
    {
      settings = MakeSettings();
      settings.*number = bad;
      refuses(settings);
    }
  }
  settings = MakeSettings();
  settings.step = 0;
  refuses(settings);
  settings = MakeSettings();
  settings.similarity.radius = 0;
  refuses(settings);
  settings = MakeSettings();
  settings.similarity.kind = gpureg::SimilarityKind::NormalizedMutualInformation;
  settings.similarity.bins = 4;
  refuses(settings);
  settings.similarity.kind = gpureg::SimilarityKind::PartialVolumeMutualInformation;
  refuses(settings);
  const Floats good = pair.fixed;
  std::fill(pair.fixed.begin(), pair.fixed.end(), 3.0F);
  refuses(MakeSettings());
  pair.fixed = good;
  pair.fixed[100] = std::numeric_limits<float>::quiet_NaN();
  refuses(MakeSettings());
  pair.fixed = good;
  // No overlap.
  auto problem = pair.Load();
  problem.moving.indexToPoint.offset[0] += 1e6;
  EXPECT_THROW(registration.Register(problem, MakeSettings(), OnThreads(2)), gpureg::BadInputError);
  // A progress function that throws ends the work.
  EXPECT_THROW(registration.Register(pair.Load(),
                                     MakeSettings(),
                                     OnThreads(2),
                                     [](const gpureg::DiffeomorphicProgress & where) {
                                       if (where.iteration == 3)
                                       {
                                         throw gpureg::Error("enough");
                                       }
                                     }),
               gpureg::Error);
  registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
  EXPECT_TRUE(
    IsWithinRecord(GetParam(), pair.ComputeError(TakeField(registration, gpureg::CountOf(pair.grid.size))), 0.0883));
}

INSTANTIATE_TEST_SUITE_P(Devices, GreedyRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
