// SPDX-License-Identifier: Apache-2.0
// Registers several pairs of images by one deformation, greedily and by SyN, on every device.
#include "DenseCase.h"
#include "ErrorOfRecord.h"
#include "PairImages.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/LoadedImage.h"
#include "gpureg/registration/diffeomorphic/DiffeomorphicRegistration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::DiffeomorphicScheme;
using gpureg::SimilarityKind;

/** Makes problems, too. */
class Images : public PairImages
{
public:
  using PairImages::PairImages;

  /** Returns a problem whose first pair shows axis 0, and whose further ones the given ones. */
  gpureg::DiffeomorphicProblem
  MakeProblem(const std::vector<std::size_t> & axes, double weight = 1)
  {
    gpureg::DiffeomorphicProblem problem;
    problem.dimension = problem.initial.dimension = problem.fixedInitial.dimension = m_Dimension;
    problem.fixed = this->MakeStripes(0, Shift);
    problem.moving = this->MakeStripes(0, 0);
    for (const std::size_t axis : axes)
    {
      problem.further.push_back(this->MakePair(axis, weight));
    }
    return problem;
  }
};

gpureg::DiffeomorphicSettings
MakeSettings(DiffeomorphicScheme scheme, int iterations = 24)
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = scheme;
  settings.similarity.kind = SimilarityKind::MeanSquares;
  settings.iterations = { iterations };
  settings.updateSigma = 2;
  settings.fieldSigma = 0.3;
  settings.step = scheme == DiffeomorphicScheme::SyN ? 0.1 : 0.2;
  return settings;
}

Floats
Register(gpureg::DiffeomorphicRegistration &   registration,
         const gpureg::DiffeomorphicProblem &  problem,
         const gpureg::DiffeomorphicSettings & settings,
         std::int64_t                          threads = 2)
{
  const auto result = registration.Register(problem, settings, OnThreads(threads));
  Floats     field(3 * static_cast<std::size_t>(result.levels.back().voxels));
  registration.TakeDisplacements([&field](std::int64_t  first,
                                          std::int64_t  count,
                                          const float * in) { std::copy_n(in, 3 * count, field.begin() + 3 * first); },
                                 OnThreads(threads));
  return field;
}

/** Returns the mean vector of the voxels that are some voxels inside. */
std::array<double, 3>
ComputeMean(const Floats & field, const gpureg::Size & size)
{
  std::array<double, 3> sum{};
  int                   voxels = 0;
  for (int n = 0; n < gpureg::CountOf(size); ++n)
  {
    const std::array<int, 3> index{ n % size[0], n / size[0] % size[1], n / size[0] / size[1] };
    bool                     isInside = true;
    for (std::size_t d = 0; d < 3; ++d)
    {
      isInside = isInside && (size[d] == 1 || (index[d] >= 7 && index[d] < size[d] - 7));
    }
    for (std::size_t d = 0; isInside && d < 3; ++d)
    {
      sum[d] += field[3 * static_cast<std::size_t>(n) + d];
    }
    voxels += isInside ? 1 : 0;
  }
  return { sum[0] / voxels, sum[1] / voxels, sum[2] / voxels };
}

using Parameter = std::tuple<std::string, DiffeomorphicScheme>;

class SeveralPairsTest : public ::testing::TestWithParam<Parameter>
{
protected:
  std::string
  GetDevice() const
  {
    return std::get<0>(this->GetParam());
  }

  DiffeomorphicScheme
  GetScheme() const
  {
    return std::get<1>(this->GetParam());
  }
};
} // namespace

TEST_P(SeveralPairsTest, EachMovesAlongWhatItShows)
{
  const bool                        isSyN = this->GetScheme() == DiffeomorphicScheme::SyN;
  gpureg::DiffeomorphicRegistration registration(this->GetDevice());
  for (const int dimension : { 2, 3 })
  {
    Images              images(this->GetDevice(), dimension);
    const auto          settings = MakeSettings(this->GetScheme());
    const auto          alone = ComputeMean(Register(registration, images.MakeProblem({}), settings), images.size);
    const bool          isIn3D = dimension == 3;
    const ErrorOfRecord aside(isSyN ? 3.03e-5 : 0, isSyN ? 3.03e-5 : 0, isSyN ? 3.03e-5 : 2.4e-7);
    const double        ofAlone = isSyN ? (isIn3D ? 0.0431 : 0.0245) : 0.0356;
    EXPECT_TRUE(IsWithinRecord(this->GetDevice(), std::abs(alone[0] - Shift), ofAlone)) << dimension << "D";
    EXPECT_TRUE(IsWithinRecord(this->GetDevice(), std::abs(alone[1]), aside)) << dimension << "D";
    const std::vector<std::size_t> axes = isIn3D ? std::vector<std::size_t>{ 1, 2 } : std::vector<std::size_t>{ 1 };
    const auto all = ComputeMean(Register(registration, images.MakeProblem(axes), settings), images.size);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimension); ++d)
    {
      const double ofAll = isSyN ? (isIn3D ? 0.154 : 0.0665) : 0.031;
      EXPECT_TRUE(IsWithinRecord(this->GetDevice(), std::abs(all[d] - Shift), ofAll)) << dimension << "D, axis " << d;
    }
  }
}

TEST_P(SeveralPairsTest, WeighsThem)
{
  Images                            images(this->GetDevice(), 2);
  gpureg::DiffeomorphicRegistration registration(this->GetDevice());
  auto                              settings = MakeSettings(this->GetScheme());
  const Floats                      alone = Register(registration, images.MakeProblem({}), settings);
  // A pair of weight 0 changes no bit; nor does the weight of a single pair.
  EXPECT_EQ(Register(registration, images.MakeProblem({ 1 }, 0), settings), alone);
  settings.weight = 7;
  EXPECT_EQ(Register(registration, images.MakeProblem({}), settings), alone);
  // Equal pairs are one.
  const Floats equal = Register(registration, images.MakeProblem({ 0, 0 }), settings);
  EXPECT_TRUE(IsWithinRecord(this->GetDevice(), ComputeLargestDifference(equal, alone), { 7.2e-7, 2.6e-6 }));
  // The first pair may be the one without a weight.
  settings.weight = 0;
  const auto          second = ComputeMean(Register(registration, images.MakeProblem({ 1 }), settings), images.size);
  const bool          isSyN = this->GetScheme() == DiffeomorphicScheme::SyN;
  const ErrorOfRecord aside(isSyN ? 2.52e-5 : 0, isSyN ? 2.52e-5 : 0, isSyN ? 2.52e-5 : 2.4e-7);
  EXPECT_TRUE(IsWithinRecord(this->GetDevice(), std::abs(second[0]), aside));
  EXPECT_TRUE(IsWithinRecord(this->GetDevice(), std::abs(second[1] - Shift), isSyN ? 0.0243 : 0.063));
  // The heavier one goes ahead.
  settings = MakeSettings(this->GetScheme(), 3);
  const auto early = ComputeMean(Register(registration, images.MakeProblem({ 1 }, 0.2), settings), images.size);
  EXPECT_GT(early[0], 3 * early[1]);
  EXPECT_GT(early[1], 0.01);
}

TEST_P(SeveralPairsTest, LooksInsideOfEachPairsMasks)
{
  Images                            images(this->GetDevice(), 2);
  gpureg::DiffeomorphicRegistration registration(this->GetDevice());
  const auto                        settings = MakeSettings(this->GetScheme(), 10);
  // The second pair is wrong on one side.
  auto problem = images.MakeProblem({ 1 });
  problem.further[0].fixed = images.Load(
    [](const std::array<int, 3> & index) { return std::sin(0.45 * (index[1] + (index[0] < 14 ? -Shift : Shift))); });
  const auto mask = images.Load([](const std::array<int, 3> & index) { return index[0] < 14 ? 0.0 : 1.0; });
  const auto findWrong = [&](const Floats & field) { return field[3 * static_cast<std::size_t>(13 * 28 + 7) + 1]; };
  const bool isSyN = this->GetScheme() == DiffeomorphicScheme::SyN;
  const auto expectNear = [&](double truth, double record) {
    const double error = std::abs(findWrong(Register(registration, problem, settings)) - truth);
    EXPECT_TRUE(IsWithinRecord(this->GetDevice(), error, record)) << "from " << truth;
  };
  expectNear(-Shift, isSyN ? 0.492 : 0.199);
  problem.further[0].fixed.mask = mask.image;
  expectNear(0, isSyN ? 0.00571 : 0.00849);
}

TEST_P(SeveralPairsTest, FreesArraysOfFormerPairs)
{
  Images                            images(this->GetDevice(), 3);
  gpureg::DiffeomorphicRegistration registration(this->GetDevice());
  const auto                        settings = MakeSettings(this->GetScheme(), 2);
  const auto                        count = [&](const std::vector<std::size_t> & axes) {
    Register(registration, images.MakeProblem(axes), settings);
    return registration.GetStatistics().deviceBytes;
  };
  const std::int64_t alone = count({});
  EXPECT_GT(count({ 1, 2 }), alone + 3 * static_cast<std::int64_t>(sizeof(float)) * gpureg::CountOf(images.size));
  // Only the sums of strips stay allocated; their size does not depend on the images' size.
  EXPECT_LE(count({}), alone + 140000);
}

TEST_P(SeveralPairsTest, IsTheSameForAnyNumberOfThreadsAndOnEachDevice)
{
  const auto settings = MakeSettings(this->GetScheme(), 8);
  const auto find = [&](const std::string & device, std::int64_t threads) {
    Images images(device, 3);
    auto   problem = images.MakeProblem({ 1, 2 });
    problem.further[0].similarity = { SimilarityKind::NeighborhoodCorrelation, 32, 2 };
    problem.further[1].weight = 0.7;
    gpureg::DiffeomorphicRegistration registration(device);
    return Register(registration, problem, settings, threads);
  };
  const Floats field = find(this->GetDevice(), 1);
  EXPECT_EQ(field, find(this->GetDevice(), 3));
  EXPECT_TRUE(IsWithinRecord(this->GetDevice(), ComputeLargestDifference(field, find("host", 2)), { 0, 1.2e-6 }));
}

TEST_P(SeveralPairsTest, CountsBytesWherePairsAreLeftOutOrRefused)
{
  Images images(this->GetDevice(), 2);
  for (const DiffeomorphicScheme scheme : { this->GetScheme(), DiffeomorphicScheme::Velocity })
  {
    const auto                        settings = MakeSettings(scheme, 2);
    gpureg::DiffeomorphicRegistration registration(this->GetDevice());
    auto                              problem = images.MakeProblem({ 1, 1 });
    problem.further[0].moving = images.Load([](const auto &) { return 3.0; });
    EXPECT_THROW(registration.Register(problem, settings, OnThreads(2)), gpureg::BadInputError) << scheme;
    const std::size_t refused = registration.GetHeldBytes();
    problem = images.MakeProblem({ 1, 1 });
    problem.further[0].weight = 0;
    registration.Register(problem, settings, OnThreads(2));
    const std::size_t bytes = registration.GetHeldBytes();
    EXPECT_GT(bytes, refused) << scheme;
    // A weight makes the pair take its place.
    problem.further[0].weight = 1;
    registration.Register(problem, settings, OnThreads(2));
    EXPECT_GT(registration.GetHeldBytes(), bytes) << scheme;
  }
}

TEST_P(SeveralPairsTest, SaysWhatIsWrongAndGoesOn)
{
  Images                            images(this->GetDevice(), 2);
  gpureg::DiffeomorphicRegistration registration(this->GetDevice());
  const auto                        settings = MakeSettings(this->GetScheme(), 3);
  const auto                        refuses = [&](const std::string & words, const auto & spoil) {
    auto problem = images.MakeProblem({ 1, 1 });
    auto changed = settings;
    spoil(problem.further[1], changed);
    try
    {
      registration.Register(problem, changed, OnThreads(2));
      FAIL() << words;
    }
    catch (const gpureg::BadInputError & error)
    {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  for (const double bad : { -1.0, std::numeric_limits<double>::quiet_NaN(), 1e9 })
  {
    refuses("pair 3: a pair's weight", [bad](gpureg::FurtherPair & pair, auto &) { pair.weight = bad; });
  }
  refuses("pair 3: the moving image is missing", [](gpureg::FurtherPair & pair, auto &) { pair.moving = {}; });
  refuses("pair 3: the fixed image is missing", [](gpureg::FurtherPair & pair, auto &) { pair.fixed = {}; });
  refuses("pair 3: ", [](gpureg::FurtherPair & pair, auto &) {
    pair.similarity = { SimilarityKind::NeighborhoodCorrelation, 32, 0 };
  });
  refuses("pair 3: the moving image is constant",
          [&](gpureg::FurtherPair & pair, auto &) { pair.moving = images.Load([](const auto &) { return 3.0; }); });
  refuses("pair 3: the fixed image has one value", [&](gpureg::FurtherPair & pair, auto &) {
    pair.fixed = images.Load([](const std::array<int, 3> & index) {
      return index[0] + index[1] == 9 && index[0] == 4 ? std::nan("") : 1.0 * index[0];
    });
  });
  // SyN resamples the moving image first, and finds nothing of it.
  const bool isSyN = this->GetScheme() == DiffeomorphicScheme::SyN;
  refuses(isSyN ? "pair 3: the moving image is constant where the deformation's grid lies in it" : "pair 3: no voxel",
          [](gpureg::FurtherPair & pair, auto &) { pair.moving.indexToPoint.offset[0] += 1e5; });
  auto problem = images.MakeProblem({ 1 });
  problem.further[0].weight = 0;
  auto noWeight = settings;
  noWeight.weight = 0;
  EXPECT_THROW(registration.Register(problem, noWeight, OnThreads(2)), gpureg::BadInputError);
  // Another grid of the fixed image: SyN resamples both images anyway.
  problem = images.MakeProblem({ 1 });
  problem.further[0].fixed.indexToPoint.offset[1] += 0.4;
  if (this->GetScheme() == DiffeomorphicScheme::Greedy)
  {
    refuses(
      "pair 3: the fixed image has 28 x 26 voxels of 1 x 1 mm from (0, 0.4) on, and that of the first pair 28 x 26 "
      "voxels of 1 x 1 mm from (0, 0) on",
      [](gpureg::FurtherPair & pair, auto &) { pair.fixed.indexToPoint.offset[1] += 0.4; });
    EXPECT_THROW(registration.Register(problem, settings, OnThreads(2)), gpureg::BadInputError);
  }
  else
  {
    registration.Register(problem, settings, OnThreads(2));
  }
  EXPECT_EQ(registration.Register(images.MakeProblem({ 1 }), settings, OnThreads(2)).levels.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Devices,
                         SeveralPairsTest,
                         ::testing::Combine(::testing::ValuesIn(GetDeviceNames()),
                                            ::testing::Values(DiffeomorphicScheme::Greedy, DiffeomorphicScheme::SyN)),
                         [](const ::testing::TestParamInfo<Parameter> & info) {
                           std::string name = std::get<0>(info.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name + (std::get<1>(info.param) == DiffeomorphicScheme::SyN ? "_SyN" : "_Greedy");
                         });

} // namespace gpuregtest
