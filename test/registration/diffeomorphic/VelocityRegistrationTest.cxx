// SPDX-License-Identifier: Apache-2.0
// Registers images by a stationary velocity on every device: against its formulas in double precision, and for what it promises of the
// inverse and of exchanged images.
#include "ErrorOfRecord.h"
#include "KnownDeformation.h"
#include "TestDevices.h"

#include "gpureg/core/Error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace gpuregtest
{

namespace
{
using Doubles = std::vector<double>;

gpureg::DiffeomorphicSettings
MakeSettings()
{
  gpureg::DiffeomorphicSettings settings;
  settings.scheme = gpureg::DiffeomorphicScheme::Velocity;
  settings.iterations = { 25, 25 };
  settings.step = 0.5;
  return settings;
}

Floats
Register(const std::string & device, Pair & pair, const gpureg::DiffeomorphicSettings & settings, int threads = 2)
{
  gpureg::DiffeomorphicRegistration registration(device);
  const auto                        result = registration.Register(pair.Load(), settings, OnThreads(threads));
  EXPECT_EQ(result.foldedVoxels, 0);
  EXPECT_GT(result.smallestDeterminant, 0);
  EXPECT_LT(result.levels.front().costs.back(), result.levels.front().costs.front());
  return TakeField(registration, result.levels.back().voxels);
}

/** A scalar or a vector of a plane's pixels, axis-aligned, in voxels. */
class Plane
{
public:
  Plane(int width, int height)
    : m_Width(width)
    , m_Height(height)
  {}

  /** Interpolates linearly; the edge continues up to half a pixel, and beyond it is 0. component: of stride numbers a pixel */
  double
  Interpolate(const Doubles & values, double x, double y, int component, int stride) const
  {
    const bool isInside = x >= -0.5 && y >= -0.5 && x < m_Width - 0.5 && y < m_Height - 0.5;
    return isInside ? this->InterpolateContinued(values, x, y, component, stride) : 0;
  }

  /** Does that where the edge continues without an end. */
  double
  InterpolateContinued(const Doubles & values, double x, double y, int component, int stride) const
  {
    x = std::clamp(x, 0.0, m_Width - 1.0);
    y = std::clamp(y, 0.0, m_Height - 1.0);
    const int    i = std::min(static_cast<int>(x), m_Width - 2);
    const int    j = std::min(static_cast<int>(y), m_Height - 2);
    const double s = x - i, t = y - j;
    const auto   at = [&](int a, int b) {
      return values[static_cast<std::size_t>(stride * (b * m_Width + a) + component)];
    };
    return (1 - t) * ((1 - s) * at(i, j) + s * at(i + 1, j)) + t * ((1 - s) * at(i, j + 1) + s * at(i + 1, j + 1));
  }

  /** Calls body(x, y, number) for each pixel. */
  void
  ForEach(const std::function<void(int, int, std::size_t)> & body) const
  {
    for (int n = 0; n < m_Width * m_Height; ++n)
    {
      body(n % m_Width, n / m_Width, static_cast<std::size_t>(n));
    }
  }

  /** Returns the displacements of exp(share·v) by squarings. */
  Doubles
  Exponentiate(const Doubles & v, double share, int squarings) const
  {
    Doubles u = v;
    for (double & component : u)
    {
      component *= std::ldexp(share, -squarings);
    }
    for (int n = 0; n < squarings; ++n)
    {
      Doubles squared = u;
      this->ForEach([&](int x, int y, std::size_t i) {
        for (int c = 0; c < 2; ++c)
        {
          squared[2 * i + static_cast<std::size_t>(c)] +=
            this->InterpolateContinued(u, x + u[2 * i], y + u[2 * i + 1], c, 2);
        }
      });
      u = squared;
    }
    return u;
  }

  Doubles
  Resample(const Doubles & image, const Doubles & u) const
  {
    Doubles resampled(image.size());
    this->ForEach([&](int x, int y, std::size_t i) {
      resampled[i] = this->Interpolate(image, x + u[2 * i], y + u[2 * i + 1], 0, 1);
    });
    return resampled;
  }

  /** Returns (fixed - moving) ∇moving, by central differences, whose longest vector is scaled to a length. spacing: mm */
  Doubles
  ComputeUpdate(const Doubles &               fixed,
                const Doubles &               moving,
                double                        length,
                const std::array<double, 2> & spacing) const
  {
    Doubles update(2 * fixed.size());
    double  longest = 0;
    this->ForEach([&](int x, int y, std::size_t i) {
      if (x > 0 && y > 0 && x + 1 < m_Width && y + 1 < m_Height)
      {
        // By mm; the field is in mm, too, and a vector of one mm is 1/spacing voxels.
        const auto   width = static_cast<std::size_t>(m_Width);
        const double along[2] = { 0.5 * (moving[i + 1] - moving[i - 1]) / spacing[0],
                                  0.5 * (moving[i + width] - moving[i - width]) / spacing[1] };
        for (std::size_t c = 0; c < 2; ++c)
        {
          update[2 * i + c] = (fixed[i] - moving[i]) * along[c] / spacing[c];
        }
        longest = std::max(longest, std::hypot(update[2 * i], update[2 * i + 1]));
      }
    });
    for (double & component : update)
    {
      component *= length / longest;
    }
    return update;
  }

private:
  int m_Width;
  int m_Height;
};

/** Returns the number of pixels of a plane at which x + u(x) folds, by central differences. */
int
CountFolded(const VoxelGrid & grid, const Floats & u)
{
  const auto & m = grid.toPoint.matrix;
  const double determinant = m[0] * m[4] - m[1] * m[3];
  int          folded = 0;
  for (int y = 0; y < grid.size[1]; ++y)
  {
    for (int x = 0; x < grid.size[0]; ++x)
    {
      const auto at = [&](int i, int j, int c) {
        const int column = std::clamp(i, 0, grid.size[0] - 1);
        const int row = std::clamp(j, 0, grid.size[1] - 1);
        return static_cast<double>(u[static_cast<std::size_t>(3 * (row * grid.size[0] + column) + c)]);
      };
      double jacobian[4];
      for (int c = 0; c < 2; ++c)
      {
        const double alongX = 0.5 * (at(x + 1, y, c) - at(x - 1, y, c));
        const double alongY = 0.5 * (at(x, y + 1, c) - at(x, y - 1, c));
        jacobian[2 * c] = (m[4] * alongX - m[3] * alongY) / determinant + (c == 0);
        jacobian[2 * c + 1] = (m[0] * alongY - m[1] * alongX) / determinant + (c == 1);
      }
      folded += jacobian[0] * jacobian[3] - jacobian[1] * jacobian[2] <= 0 ? 1 : 0;
    }
  }
  return folded;
}

class VelocityRegistrationTest : public ::testing::TestWithParam<std::string>
{};
} // namespace

TEST_P(VelocityRegistrationTest, TakesTheStepsOfItsFormulas)
{
  constexpr int               width = 31;
  constexpr int               height = 27;
  const std::array<double, 2> spacing{ 1.5, 2.0 };
  const Plane                 plane(width, height);
  constexpr double            step = 0.8;
  constexpr int               iterations = 3;
  // Nothing is at the edge, where there are no central differences.
  const auto makeImage = [&](double x0, double y0, double shape) {
    Floats image(static_cast<std::size_t>(width * height));
    plane.ForEach([&](int x, int y, std::size_t i) {
      const double p = (x - x0) / 4, q = (y - y0) / shape;
      image[i] =
        static_cast<float>(100 * std::exp(-(p * p + q * q)) * (1 + 0.3 * std::sin(0.9 * x) * std::cos(0.7 * y)));
    });
    return image;
  };
  const Floats                 fixed = makeImage(15, 13, 4);
  const Floats                 moving = makeImage(16.5, 12.2, 3.2);
  gpureg::LoadedImage          loaded[2] = { gpureg::LoadedImage(GetParam()), gpureg::LoadedImage(GetParam()) };
  gpureg::DiffeomorphicProblem problem;
  problem.dimension = problem.initial.dimension = 2;
  for (const bool isFixed : { true, false })
  {
    gpureg::LoadedImage &     image = loaded[isFixed ? 0 : 1];
    gpureg::RegisteredImage & side = isFixed ? problem.fixed : problem.moving;
    image.Load({}, gpureg::Precision::Single, (isFixed ? fixed : moving).data(), width * height, OnThreads(2));
    side.image = &image;
    side.size = { width, height, 1 };
    side.indexToPoint.matrix = { spacing[0], 0, 0, 0, spacing[1], 0, 0, 0, 1 };
  }
  auto settings = MakeSettings();
  settings.iterations = { iterations };
  settings.similarity.kind = gpureg::SimilarityKind::MeanSquares;
  settings.updateSigma = settings.fieldSigma = 0;
  settings.step = step;
  settings.fixedRange = settings.movingRange = gpureg::ValueRange{ 0, 1000 };
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        result = registration.Register(problem, settings, OnThreads(2));

  const Doubles f(fixed.begin(), fixed.end()), m(moving.begin(), moving.end());
  Doubles       v(2 * f.size());
  Doubles       costs;
  for (int t = 0; t < iterations; ++t)
  {
    const Doubles inMiddle[2] = { plane.Resample(f, plane.Exponentiate(v, -0.5, 5)),
                                  plane.Resample(m, plane.Exponentiate(v, 0.5, 5)) };
    const Doubles ofMoving = plane.ComputeUpdate(inMiddle[0], inMiddle[1], 0.5 * step, spacing);
    const Doubles ofFixed = plane.ComputeUpdate(inMiddle[1], inMiddle[0], 0.5 * step, spacing);
    double        squares = 0;
    for (std::size_t i = 0; i < f.size(); ++i)
    {
      squares += std::pow(inMiddle[0][i] - inMiddle[1][i], 2);
      for (std::size_t c = 0; c < 2; ++c)
      {
        v[2 * i + c] += ofMoving[2 * i + c] - ofFixed[2 * i + c];
      }
    }
    EXPECT_NEAR(result.levels[0].costs[static_cast<std::size_t>(t)] / (squares / (width * height)), 1, 1e-4) << t;
  }
  const Doubles forward = plane.Exponentiate(v, 1, 6);
  const Floats  found = TakeField(registration, width * height);
  double        longest = 0;
  double        largest = 0;
  for (std::size_t i = 0; i < f.size(); ++i)
  {
    for (std::size_t c = 0; c < 2; ++c)
    {
      longest = std::max(longest, std::abs(forward[2 * i + c]));
      largest = std::max(largest, std::abs(found[3 * i + c] / spacing[c] - forward[2 * i + c]));
    }
  }
  EXPECT_GT(longest, 1);
  // Rounded to floats, in a longest vector that all others are divided by.
  EXPECT_LT(largest, 1e-4);
}

TEST_P(VelocityRegistrationTest, ComputesAKnownDeformationAndItsInverse)
{
  for (const int dimension : { 2, 3 })
  {
    for (const double edge : { 0.05, 25.0 })
    {
      Pair                              pair(GetParam(), dimension, edge);
      gpureg::DiffeomorphicRegistration registration(GetParam());
      const auto                        result = registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
      const auto                        voxels = result.levels.back().voxels;
      const Floats                      nothing(3 * pair.fixed.size());
      const Floats                      forward = TakeField(registration, voxels);
      const Floats                      inverse = TakeField(registration, voxels, gpureg::DeformationField::Inverse);
      ASSERT_GT(pair.ComputeError(nothing), 1.2);
      EXPECT_TRUE(IsWithinRecord(GetParam(), pair.ComputeError(forward), dimension == 2 ? 0.0287 : 0.0972))
        << dimension << "D, " << edge << " mm";
      EXPECT_EQ(result.foldedVoxels, 0);
      EXPECT_LT(result.levels.back().costs.back(), result.levels.front().costs.front());
      const auto errors = ComputeInverseErrors(pair.grid, forward, inverse);
      EXPECT_LT(errors[0], 1e-4);
      EXPECT_LT(errors[1], 1e-3);
      EXPECT_GT(ComputeInverseErrors(pair.grid, forward, nothing)[0], 0.5);
      EXPECT_EQ(TakeField(registration, voxels), forward);
      EXPECT_THROW(TakeField(registration, voxels, gpureg::DeformationField::FixedToMiddle), gpureg::BadInputError);
    }
  }
}

TEST_P(VelocityRegistrationTest, SmoothsWhatFolds)
{
  // Noise, hardly smoothed, makes a rough velocity.
  Pair         pair(GetParam(), 2, 1.0);
  const double scale = *std::max_element(pair.moving.begin(), pair.moving.end());
  for (std::size_t n = 0; n < pair.moving.size(); ++n)
  {
    pair.fixed[n] += static_cast<float>(0.2 * scale * std::sin(13.7 * static_cast<double>(n * n % 1009)));
    pair.moving[n] += static_cast<float>(0.2 * scale * std::sin(7.3 * static_cast<double>(n * n % 977)));
  }
  auto settings = MakeSettings();
  settings.iterations = { 150 };
  settings.step = 4;
  settings.updateSigma = 0.9;
  settings.fieldSigma = 0.2;
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        count = gpureg::CountOf(pair.grid.size);
  Floats                            before;
  const auto                        keep = [&](const auto &) { before = TakeField(registration, count); };
  const auto                        result = registration.Register(pair.Load(), settings, OnThreads(2), {}, keep);
  const Floats                      after = TakeField(registration, count);
  EXPECT_GT(CountFolded(pair.grid, before), 0);
  EXPECT_EQ(CountFolded(pair.grid, after), 0);
  // Only what leads to a fold is smoothed.
  std::int64_t same = 0;
  for (std::int64_t n = 0; n < count; ++n)
  {
    same += std::equal(&before[3 * n], &before[3 * n] + 3, &after[3 * n]) ? 1 : 0;
  }
  EXPECT_GT(same, count / 4);
  EXPECT_EQ(result.foldedVoxels, 0);
  EXPECT_GT(result.smallestDeterminant, 0);
  EXPECT_TRUE(result.warnings.empty());
  // A field that must not be smoothed folds, and a warning says so.
  settings.fieldSigma = 0;
  const auto unsmoothed = registration.Register(pair.Load(), settings, OnThreads(2));
  EXPECT_GT(unsmoothed.foldedVoxels, 0);
  EXPECT_EQ(unsmoothed.warnings.size(), 1U);
}

TEST_P(VelocityRegistrationTest, LeadsBackWhereImagesAreExchanged)
{
  for (const auto kind : { gpureg::SimilarityKind::NeighborhoodCorrelation, gpureg::SimilarityKind::CorrelationRatio })
  {
    Pair pair(GetParam(), 3, 1.0);
    auto settings = MakeSettings();
    settings.iterations = { 12, 8 };
    settings.similarity.kind = kind;
    gpureg::DiffeomorphicRegistration registration(GetParam());
    auto                              problem = pair.Load();
    const auto                        there = registration.Register(problem, settings, OnThreads(2));
    const auto                        voxels = there.levels.back().voxels;
    const Floats                      inverse = TakeField(registration, voxels, gpureg::DeformationField::Inverse);
    std::swap(problem.fixed, problem.moving);
    const auto   back = registration.Register(problem, settings, OnThreads(2));
    const Floats forward = TakeField(registration, voxels);
    // Velocities have opposite signs and the same bits.
    for (std::size_t level = 0; level < 2; ++level)
    {
      EXPECT_EQ(there.levels[level].costs, back.levels[level].costs) << kind;
    }
    // The inverse is refined for what the fields' interpolation loses. Near the edge what is mapped to a voxel may lie outside.
    double largest = 0;
    for (std::size_t n = 0; n < forward.size(); ++n)
    {
      if (IsInner(pair.grid, static_cast<std::int64_t>(n / 3)))
      {
        largest = std::max(largest, std::abs(static_cast<double>(forward[n]) - inverse[n]));
      }
    }
    EXPECT_LT(largest, 0.1) << kind;
  }
}

TEST_P(VelocityRegistrationTest, ComputesItByEachSimilarity)
{
  const std::pair<gpureg::SimilarityKind, double> errorsOfRecord[] = {
    { gpureg::SimilarityKind::MeanSquares, 0.0587 },
    { gpureg::SimilarityKind::Correlation, 0.0272 },
    { gpureg::SimilarityKind::CorrelationRatio, 0.0715 },
    { gpureg::SimilarityKind::MattesMutualInformation, 0.0622 },
    { gpureg::SimilarityKind::NormalizedMutualInformation, 0.0632 },
    { gpureg::SimilarityKind::Demons, 0.0159 }
  };
  for (const auto & [kind, errorOfRecord] : errorsOfRecord)
  {
    Pair pair(GetParam(), 2, 1.0);
    auto settings = MakeSettings();
    settings.similarity.kind = kind;
    const Floats field = Register(GetParam(), pair, settings, 1);
    EXPECT_TRUE(IsWithinRecord(GetParam(), pair.ComputeError(field), errorOfRecord)) << kind;
    EXPECT_EQ(field, Register(GetParam(), pair, settings, 3)) << kind;
  }
}

TEST_P(VelocityRegistrationTest, IsTheSameOnEachDeviceAndForAnyNumberOfThreads)
{
  Pair here(GetParam(), 3, 1.0);
  Pair onHost("host", 3, 1.0);
  auto settings = MakeSettings();
  settings.iterations = { 12, 8 };
  const Floats field = Register(GetParam(), here, settings, 1);
  EXPECT_EQ(field, Register(GetParam(), here, settings, 3));
  const Floats reference = Register("host", onHost, settings);
  double       largest = 0;
  for (std::size_t n = 0; n < field.size(); ++n)
  {
    largest = std::max(largest, std::abs(static_cast<double>(field[n]) - reference[n]));
  }
  // Devices round sums of products differently, and 20 steps pass that on: voxels.
  EXPECT_LT(largest, 0.02);
}

TEST_P(VelocityRegistrationTest, BeginsWithALinearTransformAndTakesAnyValuesOutside)
{
  const auto findError = [](Pair & pair, double shift) {
    auto problem = pair.Load();
    // Shifts the moving image, and shifts points back.
    problem.moving.indexToPoint.offset[0] += shift;
    gpureg::IndexMap back;
    back.offset[0] = shift;
    problem.initial.Append(back);
    auto settings = MakeSettings();
    settings.iterations = { 12, 8 };
    gpureg::DiffeomorphicRegistration registration(GetParam());
    const auto                        result = registration.Register(problem, settings, OnThreads(2));
    return pair.ComputeError(TakeField(registration, result.levels.back().voxels));
  };
  Pair         pair(GetParam(), 3, 1.0);
  const double error = findError(pair, 0);
  EXPECT_NEAR(findError(pair, 7), error, 1e-3);
  // As those of a computed tomogram: what lies outside of an image counts as its least value, not as 0.
  for (Floats * values : { &pair.fixed, &pair.moving })
  {
    for (float & value : *values)
    {
      value -= 1000;
    }
  }
  EXPECT_NEAR(findError(pair, 0), error, 0.02);
}

TEST_P(VelocityRegistrationTest, LooksInsideOfMasks)
{
  for (const bool isFixed : { true, false })
  {
    const MaskErrors errors = ComputeMaskErrors(GetParam(), MakeSettings(), isFixed);
    EXPECT_TRUE(IsWithinRecord(GetParam(), errors.masked, isFixed ? 0.183 : 0.242)) << (isFixed ? "fixed" : "moving");
    EXPECT_GT(errors.unmasked, 1.2 * errors.masked) << (isFixed ? "fixed" : "moving");
  }
}

TEST_P(VelocityRegistrationTest, SaysWhatIsWrongAndGoesOn)
{
  Pair                              pair(GetParam(), 2, 1.0);
  gpureg::DiffeomorphicRegistration registration(GetParam());
  const auto                        refuses = [&](const gpureg::DiffeomorphicSettings & settings) {
    EXPECT_THROW(registration.Register(pair.Load(), settings, OnThreads(2)), gpureg::BadInputError);
    EXPECT_THROW(TakeField(registration, 1), gpureg::BadInputError);
  };
  auto settings = MakeSettings();
  settings.step = 0;
  refuses(settings);
  settings = MakeSettings();
  settings.fieldSigma = 1e9;
  refuses(settings);
  settings = MakeSettings();
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
  // A mask that leaves nothing.
  const Floats        nothing(pair.fixed.size());
  gpureg::LoadedImage mask(GetParam());
  mask.Load({}, gpureg::Precision::Single, nothing.data(), static_cast<std::int64_t>(nothing.size()), OnThreads(2));
  problem = pair.Load();
  problem.moving.mask = &mask;
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
  // Other schemes on the same object, and this one again.
  const Floats before = Register(GetParam(), pair, MakeSettings());
  settings = MakeSettings();
  settings.scheme = gpureg::DiffeomorphicScheme::Greedy;
  registration.Register(pair.Load(), settings, OnThreads(2));
  EXPECT_THROW(TakeField(registration, 1, gpureg::DeformationField::Inverse), gpureg::BadInputError);
  registration.Register(pair.Load(), MakeSettings(), OnThreads(2));
  EXPECT_EQ(TakeField(registration, gpureg::CountOf(pair.grid.size)), before);
}

INSTANTIATE_TEST_SUITE_P(Devices, VelocityRegistrationTest, ::testing::ValuesIn(GetDeviceNames()), GetTestName);

} // namespace gpuregtest
