// SPDX-License-Identifier: Apache-2.0
// Registers several pairs of images by one free-form deformation, on every device.
#include "ErrorOfRecord.h"
#include "PairImages.h"
#include "TestImages.h"
#include "TestDevices.h"
#include "TestParallelFor.h"

#include "../../src/engine/registration/Information.h"

#include "gpureg/core/Error.h"
#include "gpureg/image/NarrowImage.h"
#include "gpureg/registration/free_form/FreeFormRegistration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using gpureg::FreeFormOptimizer;
using gpureg::SimilarityKind;

constexpr double Infinity = std::numeric_limits<double>::infinity();

/** Returns a texture that varies along all axes. */
double
GetTexture(const std::array<int, 3> & index, double shift)
{
  const double x = index[0] + shift, y = index[1] - 0.5 * shift, z = index[2];
  return std::sin(0.45 * x) + 0.7 * std::cos(0.4 * y + 0.1 * x) + 0.5 * std::sin(0.35 * z - 0.2 * y);
}

class FreeFormPairsTest : public DeviceTest
{
protected:
  /** Returns a problem of a pair that shows axis 0. */
  static gpureg::FreeFormProblem
  MakeProblem(PairImages & images, int dimension)
  {
    gpureg::FreeFormProblem problem;
    problem.dimension = dimension;
    problem.fixed = images.MakeStripes(0, Shift);
    problem.moving = images.MakeStripes(0, 0);
    problem.initial.dimension = dimension;
    return problem;
  }

  /** Returns a problem whose images vary along all axes, with further pairs of the kinds, whose weights are 2, 3 and so on. */
  static gpureg::FreeFormProblem
  MakeTextured(PairImages & images, const std::vector<SimilarityKind> & further)
  {
    gpureg::FreeFormProblem problem;
    problem.fixed = images.Load([](const auto & index) { return GetTexture(index, 0.6); });
    problem.moving = images.Load([](const auto & index) { return GetTexture(index, 0); });
    double weight = 1;
    for (const SimilarityKind kind : further)
    {
      gpureg::FurtherPair pair;
      pair.fixed = images.Load([](const auto & index) { return std::exp(0.3 * GetTexture(index, 0.6)); });
      pair.moving = images.Load([](const auto & index) { return 2 - std::exp(0.2 * GetTexture(index, 0.2)); });
      // Another grid: its first voxel lies elsewhere.
      pair.fixed.indexToPoint.offset = { 0.4, -0.3, 0.2 };
      pair.similarity = { kind, 16, 2 };
      pair.weight = ++weight;
      pair.fixedRange = pair.movingRange = gpureg::ValueRange{ -Infinity, Infinity };
      problem.further.push_back(pair);
    }
    return problem;
  }

  /** Returns settings of one level without a penalty. */
  static gpureg::FreeFormSettings
  MakePlainSettings(SimilarityKind kind)
  {
    gpureg::FreeFormSettings settings;
    settings.similarity = kind;
    settings.levels = 1;
    settings.iterations = 1;
    settings.bins = 16;
    settings.radius = 2;
    settings.bendingWeight = 0;
    settings.spacing = { 6, 6, 6 };
    settings.fixedRange = settings.movingRange = gpureg::ValueRange{ -Infinity, Infinity };
    return settings;
  }

  static gpureg::FreeFormResult
  Register(const gpureg::FreeFormProblem & problem, const gpureg::FreeFormSettings & settings)
  {
    return gpureg::FreeFormRegistration(GetParam()).Register(problem, settings, OnThreads(2));
  }

  static double
  FindCost(const gpureg::FreeFormProblem & problem, const gpureg::FreeFormSettings & settings)
  {
    return Register(problem, settings).levels.front().costs.front();
  }

  /** Returns the mean displacement along an axis, of the control points well inside. */
  static double
  FindShift(const gpureg::FreeFormResult & result, std::size_t axis)
  {
    double sum = 0;
    double count = 0;
    for (int n = 0; n < gpureg::CountOf(result.size); ++n)
    {
      const std::array<int, 3> place{ n % result.size[0],
                                      n / result.size[0] % result.size[1],
                                      n / result.size[0] / result.size[1] };
      if (place[axis] > 1 && place[axis] < result.size[axis] - 3)
      {
        sum += result.points[static_cast<std::size_t>(n)][axis];
        ++count;
      }
    }
    return sum / count;
  }

  /** Returns the values of an image that MakeTextured() makes. */
  template <typename TFunction>
  static std::vector<double>
  List(const PairImages & images, const TFunction & getValue)
  {
    std::vector<double> values;
    for (int n = 0; n < gpureg::CountOf(images.size); ++n)
    {
      values.push_back(getValue(std::array<int, 3>{
        n % images.size[0], n / images.size[0] % images.size[1], n / images.size[0] / images.size[1] }));
    }
    return values;
  }
};
} // namespace

/** The mean by weights of costs in nats, each computed from the pair's own cost in double precision. */
TEST_P(FreeFormPairsTest, CostsAreTheMeanOfNats)
{
  const std::vector<SimilarityKind> kinds{ SimilarityKind::MattesMutualInformation,
                                           SimilarityKind::NormalizedMutualInformation,
                                           SimilarityKind::MeanSquares,
                                           SimilarityKind::Correlation,
                                           SimilarityKind::CorrelationRatio,
                                           SimilarityKind::NeighborhoodCorrelation };
  PairImages                        images(GetParam(), 3);
  const auto                        problem = MakeTextured(images, kinds);
  const auto                        settings = MakePlainSettings(SimilarityKind::Correlation);
  // The mean squares relative to those of unrelated values.
  const double unrelatedSquares = gpureg::ComputeUnrelatedCost(
    SimilarityKind::MeanSquares,
    List(images, [](const auto & index) { return std::exp(0.3 * GetTexture(index, 0.6)); }),
    List(images, [](const auto & index) { return 2 - std::exp(0.2 * GetTexture(index, 0.2)); }));
  double sum = 0;
  double weights = 0;
  for (std::size_t number = 0; number <= kinds.size(); ++number)
  {
    gpureg::FreeFormProblem  one = problem;
    gpureg::FreeFormSettings its = settings;
    double                   weight = 1;
    if (number > 0)
    {
      one.fixed = problem.further[number - 1].fixed;
      one.moving = problem.further[number - 1].moving;
      its.similarity = kinds[number - 1];
      weight = problem.further[number - 1].weight;
    }
    one.further.clear();
    const double unrelated =
      its.similarity == SimilarityKind::MeanSquares ? unrelatedSquares : gpureg::Describe(its.similarity).unrelatedCost;
    sum += weight * gpureg::ComputeInformation(its.similarity, FindCost(one, its), unrelated).nats;
    weights += weight;
  }
  EXPECT_NEAR(FindCost(problem, settings), sum / weights, 1e-6);
}

/** Along random directions of all control points, the cost changes as the first step of a conjugate gradient predicts. */
TEST_P(FreeFormPairsTest, StepsAreAgainstTheGradientOfTheMean)
{
  constexpr double shift = 0.1; // mm
  PairImages       images(GetParam(), 3);
  const auto       problem = MakeTextured(images,
                                    { SimilarityKind::MattesMutualInformation,
                                            SimilarityKind::MeanSquares,
                                            SimilarityKind::CorrelationRatio,
                                            SimilarityKind::NeighborhoodCorrelation });
  auto             settings = MakePlainSettings(SimilarityKind::Correlation);
  const auto       plain = settings;
  settings.optimizer = FreeFormOptimizer::ConjugateGradient;
  const auto step = Register(problem, settings);
  Random     random(31);
  double     product = 0, squares = 0, slopeSquares = 0;
  for (int direction = 0; direction < 8; ++direction)
  {
    std::vector<double> along(3 * step.points.size());
    std::generate(along.begin(), along.end(), [&random] { return Uniform(random, -1, 1); });
    double predicted = 0;
    for (std::size_t n = 0; n < along.size(); ++n)
    {
      predicted -= along[n] * step.points[n / 3][n % 3];
    }
    double slope = 0;
    for (const double sign : { 1.0, -1.0 })
    {
      gpureg::DisplacementGrid spline;
      spline.size = step.size;
      // The grid's axes are those of space.
      for (std::size_t d = 0; d < 3; ++d)
      {
        spline.toGrid.matrix[4 * d] = 1 / step.gridToPoint.matrix[4 * d];
        spline.toGrid.offset[d] = -step.gridToPoint.offset[d] / step.gridToPoint.matrix[4 * d];
      }
      spline.vectors = [&along, sign](std::int64_t first, std::int64_t count, double * out) {
        std::transform(along.begin() + 3 * first, along.begin() + 3 * (first + count), out, [sign](double x) {
          return sign * shift * x;
        });
      };
      gpureg::FreeFormProblem moved = problem;
      moved.initial.Append(std::move(spline));
      slope += sign * FindCost(moved, plain) / (2 * shift);
    }
    product += predicted * slope;
    squares += predicted * predicted;
    slopeSquares += slope * slope;
  }
  EXPECT_GT(product / std::sqrt(squares * slopeSquares), 0.9995);
}

TEST_P(FreeFormPairsTest, EachPairPullsAlongTheAxisThatItShows)
{
  for (const int dimension : { 2, 3 })
  {
    SCOPED_TRACE(dimension);
    PairImages images(GetParam(), dimension);
    auto       problem = MakeProblem(images, dimension);
    auto       settings = MakePlainSettings(SimilarityKind::MeanSquares);
    settings.iterations = 60;
    settings.bendingWeight = 1e-4;
    const auto alone = Register(problem, settings);
    EXPECT_TRUE(IsWithinRecord(GetParam(), std::abs(FindShift(alone, 0) - Shift), 0.00396));
    EXPECT_LT(std::abs(FindShift(alone, 1)), 1e-3);
    problem.further = { images.MakePair(1, 0.5) };
    const auto both = Register(problem, settings);
    EXPECT_TRUE(IsWithinRecord(GetParam(), std::abs(FindShift(both, 0) - Shift), 0.00744));
    EXPECT_TRUE(IsWithinRecord(GetParam(), std::abs(FindShift(both, 1) - Shift), 0.051));
    EXPECT_LT(both.levels.back().costs.back(), both.levels.back().costs.front());
  }
}

/** The heavier of two pairs that disagree decides. */
TEST_P(FreeFormPairsTest, WeightsCount)
{
  const auto find = [](double weight) {
    PairImages images(GetParam(), 3);
    auto       problem = MakeProblem(images, 3);
    problem.further = { images.MakePair(0, weight) };
    problem.further.front().fixed = images.MakeStripes(0, Shift + 1);
    problem.further.front().similarity.kind = SimilarityKind::Correlation;
    auto settings = MakePlainSettings(SimilarityKind::Correlation);
    settings.iterations = 60;
    settings.bendingWeight = 1e-4;
    return FindShift(Register(problem, settings), 0);
  };
  EXPECT_TRUE(IsWithinRecord(GetParam(), std::abs(find(0.2) - Shift), 0.0145));
  EXPECT_TRUE(IsWithinRecord(GetParam(), std::abs(find(5) - (Shift + 1)), 0.0124));
}

TEST_P(FreeFormPairsTest, APairWithoutWeightChangesNoBit)
{
  PairImages images(GetParam(), 3);
  auto       problem = MakeProblem(images, 3);
  auto       settings = MakePlainSettings(SimilarityKind::Correlation);
  settings.iterations = 8;
  const auto alone = Register(problem, settings);
  problem.further = { images.MakePair(1, 0) };
  const auto without = Register(problem, settings);
  EXPECT_EQ(without.points, alone.points);
  EXPECT_EQ(without.levels.front().costs, alone.levels.front().costs);
}

/** An engine keeps its arrays, also where the number of pairs changes. */
TEST_P(FreeFormPairsTest, RegistrationsInTurnAreIndependent)
{
  PairImages images(GetParam(), 3);
  const auto several = MakeTextured(images, { SimilarityKind::MeanSquares, SimilarityKind::NeighborhoodCorrelation });
  auto       alone = several;
  alone.further.clear();
  const auto single = alone;
  auto       settings = MakePlainSettings(SimilarityKind::MattesMutualInformation);
  settings.levels = 2;
  settings.iterations = 5;
  gpureg::FreeFormRegistration kept(GetParam());
  for (const auto * problem : { &several, &single, &several })
  {
    const auto found = kept.Register(*problem, settings, OnThreads(2));
    EXPECT_EQ(found.points, Register(*problem, settings).points);
  }
}

TEST_P(FreeFormPairsTest, ShortIntegersAreFloats)
{
  // One level has the images as they are.
  for (const gpureg::SimilarityDescription & first : gpureg::Similarities)
  {
    if (!first.isForFreeForm)
    {
      continue;
    }
    PairImages                            images(GetParam(), 3);
    std::deque<std::vector<std::uint8_t>> kept; // the host reads them where they are
    std::deque<gpureg::NarrowImage>       narrow;
    const auto                            make = [&](double shift) {
      const auto getValue = [shift](const auto & index) { return std::round(50 * (GetTexture(index, shift) + 2.3)); };
      const auto values = List(images, getValue);
      const std::vector<std::uint8_t> & bytes = kept.emplace_back(values.begin(), values.end());
      const auto                        count = static_cast<std::int64_t>(bytes.size());
      gpureg::RegisteredImage           floats = images.Load(getValue);
      gpureg::RegisteredImage           integers = floats;
      integers.image = &narrow.emplace_back(GetParam(), gpureg::NumberType::UInt8, bytes.data(), count, OnThreads(2));
      return std::pair(floats, integers);
    };
    const auto              fixed = make(0.6);
    const auto              moving = make(0);
    gpureg::FreeFormProblem problem;
    problem.fixed = fixed.first;
    problem.moving = moving.first;
    problem.further = { { fixed.first, moving.first, { SimilarityKind::MeanSquares, 16, 2 }, 0.5, {}, {} } };
    const auto   settings = MakePlainSettings(first.kind);
    const double expected = FindCost(problem, settings);
    problem.fixed = problem.further.front().fixed = fixed.second;
    problem.moving = problem.further.front().moving = moving.second;
    EXPECT_EQ(FindCost(problem, settings), expected) << first.kind;
  }
}

TEST_P(FreeFormPairsTest, RefusesWhatIsWrongWithAPair)
{
  struct Refusal
  {
    std::function<void(gpureg::FurtherPair &, PairImages &)> change;
    std::string                                              message;
  };
  const Refusal refusals[] = {
    { [](auto & pair, auto &) { pair.weight = -1; }, "pair 2: a pair's weight is at least 0, not -1" },
    { [](auto & pair, auto &) { pair.weight = Infinity; }, "pair 2: a pair's weight is at least 0" },
    { [](auto & pair, auto &) { pair.similarity.kind = SimilarityKind::Demons; },
      "pair 2: there is no similarity Demons; set one of MeanSquares" },
    { [](auto & pair, auto &) {
       pair.similarity = { SimilarityKind::MattesMutualInformation, 3 };
     },
      "pair 2: mutual information has 5 to 4096 bins, not 3" },
    { [](auto & pair, auto & images) { pair.moving = images.Load([](const auto &) { return 3.0; }); },
      "pair 2: the moving image is constant" },
    { [](auto & pair, auto &) { pair.moving.image = nullptr; }, "pair 2: " },
    { [](auto & pair, auto &) {
       pair.weight = 0;
       pair.fixed.image = nullptr;
     },
      "pair 2: " },
    { [](auto & pair, auto &) { pair.moving.indexToPoint.offset[0] += 500; },
      "pair 2: no voxel of the fixed image is mapped into the moving image" },
  };
  for (const Refusal & refusal : refusals)
  {
    SCOPED_TRACE(refusal.message);
    PairImages images(GetParam(), 3);
    auto       problem = MakeProblem(images, 3);
    problem.further = { images.MakePair(1) };
    refusal.change(problem.further.front(), images);
    try
    {
      Register(problem, MakePlainSettings(SimilarityKind::MeanSquares));
      ADD_FAILURE() << "nothing was refused";
    }
    catch (const gpureg::BadInputError & error)
    {
      EXPECT_EQ(std::string(error.what()).find(refusal.message), 0U) << error.what();
    }
  }
  PairImages images(GetParam(), 3);
  auto       problem = MakeProblem(images, 3);
  problem.further = { images.MakePair(1) };
  auto settings = MakePlainSettings(SimilarityKind::MeanSquares);
  settings.samples = 1000;
  EXPECT_THROW(Register(problem, settings), gpureg::BadInputError);
}

INSTANTIATE_TEST_SUITE_P(Devices, FreeFormPairsTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
