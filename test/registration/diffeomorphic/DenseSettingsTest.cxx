// SPDX-License-Identifier: Apache-2.0
// Tests settings that all schemes of diffeomorphic registration share, on every device.
#include "KnownDeformation.h"
#include "TestDevices.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::DiffeomorphicScheme;

class DenseSettingsTest : public ::testing::TestWithParam<std::tuple<std::string, DiffeomorphicScheme>>
{
protected:
  struct Found
  {
    std::vector<std::vector<double>> costs; // of each level
    Floats                           field;
  };

  static gpureg::DiffeomorphicSettings
  MakeSettings()
  {
    gpureg::DiffeomorphicSettings settings;
    settings.scheme = std::get<1>(GetParam());
    settings.iterations = { 20, 10 };
    settings.step = 0.25;
    return settings;
  }

  /** Registers images of 41 x 37 pixels. progress may change the settings. */
  Found
  Register(const gpureg::DiffeomorphicSettings &                              settings,
           const std::function<void(const gpureg::DiffeomorphicProgress &)> & progress = {})
  {
    gpureg::DiffeomorphicRegistration registration(std::get<0>(GetParam()));
    const auto                        result = registration.Register(m_Pair.Load(), settings, OnThreads(2), progress);
    Found                             found;
    for (const auto & level : result.levels)
    {
      found.costs.push_back(level.costs);
    }
    found.field = TakeField(registration, result.levels.back().voxels);
    return found;
  }

  /** Expects a refusal whose message has a word. */
  void
  ExpectRefused(const gpureg::DiffeomorphicSettings & settings, const std::string & word)
  {
    try
    {
      this->Register(settings);
      ADD_FAILURE() << "nothing was thrown: " << word;
    }
    catch (const gpureg::BadInputError & error)
    {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }

  /** Returns the largest absolute component along an axis. */
  static float
  ComputeLargest(const Floats & field, std::size_t component)
  {
    float largest = 0;
    for (std::size_t n = component; n < field.size(); n += 3)
    {
      largest = std::max(largest, std::abs(field[n]));
    }
    return largest;
  }

  Pair m_Pair{ std::get<0>(GetParam()), 2, 1.0 };
};
} // namespace

TEST_P(DenseSettingsTest, HoldsTheAxesOfWeightZero)
{
  auto        settings = this->MakeSettings();
  const Found both = this->Register(settings);
  settings.weights = { 1, 0, 1 };
  const Found first = this->Register(settings);
  settings.weights = { 0, 1, 1 };
  const Found second = this->Register(settings);
  EXPECT_GT(this->ComputeLargest(both.field, 0), 0.5F);
  EXPECT_GT(this->ComputeLargest(both.field, 1), 0.5F);
  EXPECT_GT(this->ComputeLargest(first.field, 0), 0.5F);
  EXPECT_EQ(this->ComputeLargest(first.field, 1), 0.0F);
  EXPECT_EQ(this->ComputeLargest(second.field, 0), 0.0F);
  EXPECT_GT(this->ComputeLargest(second.field, 1), 0.5F);
  // A common factor is lost when the update gets its length: powers of two to the bit.
  settings.weights = { 4, 4, 4 };
  EXPECT_EQ(this->Register(settings).field, both.field);
}

TEST_P(DenseSettingsTest, EndsALevelWhoseCostsHaveConverged)
{
  auto settings = this->MakeSettings();
  settings.iterations = { 60 };
  const Found all = this->Register(settings);
  ASSERT_EQ(all.costs.front().size(), 60U);
  settings.convergenceWindow = 6;
  settings.convergenceThreshold = 1e-3;
  const Found ended = this->Register(settings);
  const auto  count = ended.costs.front().size();
  EXPECT_GE(count, 6U);
  EXPECT_LT(count, 60U);
  EXPECT_EQ(ended.costs.front(), std::vector<double>(all.costs[0].begin(), all.costs[0].begin() + count));
  settings.convergenceThreshold = -1;
  EXPECT_EQ(this->Register(settings).field, all.field);
}

TEST_P(DenseSettingsTest, FollowsSigmasThatProgressChanges)
{
  const auto changed = [&](double gpureg::DiffeomorphicSettings::*sigma) {
    auto settings = this->MakeSettings();
    settings.*sigma = 2.5;
    const Found fromTheStart = this->Register(settings);
    settings = this->MakeSettings();
    const Found before = this->Register(settings);
    const Found after = this->Register(settings, [&](const auto &) { settings.*sigma = 2.5; });
    EXPECT_EQ(after.field, fromTheStart.field);
    EXPECT_NE(after.field, before.field);
  };
  changed(&gpureg::DiffeomorphicSettings::updateSigma);
  changed(&gpureg::DiffeomorphicSettings::fieldSigma);
}

TEST_P(DenseSettingsTest, KeepsTheFieldAtTheFarEdgeFromLevelToLevel)
{
  if (std::get<1>(GetParam()) == DiffeomorphicScheme::SyN)
  {
    GTEST_SKIP() << "SyN's fields are 0 at the border, as ITK's";
  }
  auto settings = this->MakeSettings();
  settings.iterations = { 20, 0 };
  const Found found = this->Register(settings);
  // The last two columns and rows of an odd number lie behind the centre of the coarse grid's last pixel: a field is the same there, and
  // the exponential of a velocity is nearly.
  const std::size_t width = 41, height = 37;
  double            last = 0, before = 0;
  const auto        add = [&](std::size_t ofLast, std::size_t ofBefore) {
    for (std::size_t c = 0; c < 2; ++c)
    {
      const float a = found.field[3 * ofLast + c], b = found.field[3 * ofBefore + c];
      last += std::abs(a);
      before += std::abs(b);
      if (std::get<1>(GetParam()) == DiffeomorphicScheme::Greedy)
      {
        EXPECT_NEAR(a, b, 1e-6F) << ofLast;
      }
    }
  };
  for (std::size_t y = 0; y < height; ++y)
  {
    add(y * width + width - 1, y * width + width - 2);
  }
  for (std::size_t x = 0; x < width; ++x)
  {
    add((height - 1) * width + x, (height - 2) * width + x);
  }
  EXPECT_GT(before, 1.0);
  EXPECT_NEAR(last, before, 0.1 * before);
}

TEST_P(DenseSettingsTest, LeavesAdamToTheGreedyScheme)
{
  auto settings = this->MakeSettings();
  settings.optimizer = gpureg::DiffeomorphicOptimizer::Adam;
  if (settings.scheme == DiffeomorphicScheme::Greedy)
  {
    const Found found = this->Register(settings);
    EXPECT_LT(found.costs.front().back(), found.costs.front().front());
    settings.weights = { 1, 0, 1 };
    EXPECT_EQ(this->ComputeLargest(this->Register(settings).field, 1), 0.0F);
    settings.weights = { 1, 0.5, 1 };
    EXPECT_THROW(this->Register(settings), gpureg::UnsupportedError);
    settings.weights = { 1, 1, 1 };
  }
  else
  {
    EXPECT_THROW(this->Register(settings), gpureg::UnsupportedError);
  }
  settings.optimizer = static_cast<gpureg::DiffeomorphicOptimizer>(7);
  EXPECT_THROW(this->Register(settings), gpureg::Error);
}

TEST_P(DenseSettingsTest, SmoothsRecursively)
{
  auto settings = this->MakeSettings();
  if (settings.scheme == DiffeomorphicScheme::SyN)
  {
    settings.smoothing = gpureg::DiffeomorphicSmoothing::Recursive;
    EXPECT_THROW(this->Register(settings), gpureg::UnsupportedError);
    return;
  }
  settings.updateSigma = 3;
  settings.fieldSigma = 1;
  const Found discrete = this->Register(settings);
  settings.smoothing = gpureg::DiffeomorphicSmoothing::Recursive;
  const Found recursive = this->Register(settings);
  // Both are nearly the same Gaussians.
  double difference = 0;
  double length = 0;
  for (std::size_t n = 0; n < discrete.field.size(); ++n)
  {
    difference += std::abs(static_cast<double>(discrete.field[n]) - recursive.field[n]);
    length += std::abs(discrete.field[n]);
  }
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 0.03 * length);
  // A change from one level to the next, or within one, is followed.
  const Found changed = this->Register(settings, [&settings](const gpureg::DiffeomorphicProgress & where) {
    settings.smoothing = where.level == 0 && where.iteration < 5 ? gpureg::DiffeomorphicSmoothing::Recursive
                                                                 : gpureg::DiffeomorphicSmoothing::Discrete;
  });
  EXPECT_NE(changed.field, recursive.field);
  settings.smoothing = static_cast<gpureg::DiffeomorphicSmoothing>(9);
  EXPECT_THROW(this->Register(settings), gpureg::Error);
}

TEST_P(DenseSettingsTest, RefusesWeightsAndWindowsThatAreNotPossible)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double weight : { -1.0, nan, 1e9 })
  {
    auto settings = this->MakeSettings();
    settings.weights[1] = weight;
    this->ExpectRefused(settings, "weight of the derivative's components");
  }
  auto settings = this->MakeSettings();
  settings.weights = { 0, 0, 1 };
  this->ExpectRefused(settings, "nothing moves");
  settings = this->MakeSettings();
  settings.convergenceWindow = 1;
  this->ExpectRefused(settings, "convergence window");
  settings.convergenceWindow = 5;
  settings.convergenceThreshold = nan;
  this->ExpectRefused(settings, "convergence threshold");
}

namespace
{
std::string
GetNameOfBoth(const ::testing::TestParamInfo<std::tuple<std::string, DiffeomorphicScheme>> & info)
{
  const char * const names[] = { "Greedy", "SyN", "Velocity" };
  std::string        name = std::get<0>(info.param);
  std::replace(name.begin(), name.end(), ':', '_');
  return name + names[static_cast<int>(std::get<1>(info.param))];
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Devices,
                         DenseSettingsTest,
                         ::testing::Combine(::testing::ValuesIn(GetDeviceNames()),
                                            ::testing::Values(DiffeomorphicScheme::Greedy,
                                                              DiffeomorphicScheme::SyN,
                                                              DiffeomorphicScheme::Velocity)),
                         GetNameOfBoth);

} // namespace gpuregtest
